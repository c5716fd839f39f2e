package errors

type withStack struct {
	error
}

// Cause returns what the error wraps.
func (w *withStack) Cause() error { return w.error }

type causer interface {
	Cause() error
}

// Cause returns the innermost error.
func Cause(err error) error {
	return err
}
