from harness._harness import Agent as Agent
from harness._harness import AgentOptions as AgentOptions
from harness._harness import Counts as Counts
from harness._harness import Question as Question
from harness._harness import Result as Result
from harness._harness import Step as Step
from harness._harness import Tests as Tests
from harness._harness import Usage as Usage
from harness._types import Event as Event
from harness._types import HarnessError as HarnessError
from harness._types import OptionsError as OptionsError
from harness._types import OptionTypeError as OptionTypeError
from harness._types import OptionValueError as OptionValueError
from harness._types import Refusal as Refusal

__version__: str

__all__ = [
    "Agent",
    "AgentOptions",
    "Counts",
    "Event",
    "HarnessError",
    "OptionTypeError",
    "OptionValueError",
    "OptionsError",
    "Question",
    "Refusal",
    "Result",
    "Step",
    "Tests",
    "Usage",
    "__version__",
]
