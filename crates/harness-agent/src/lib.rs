//! One run, from a task to a result: decides, asks the model, accepts only what is proven.
