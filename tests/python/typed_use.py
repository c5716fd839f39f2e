"""A program that uses every part of the Python face: checked by mypy --strict and pyright, never run."""

from pathlib import Path

from harness import Agent, AgentOptions, Event, HarnessError, OptionsError, Question, Refusal, Result, Step, __version__


def listen(event: Event) -> None:
    print(f"{event.seconds:.1f} {event.kind}: {event.upper()} {event.data.get('path')}")


def choose(question: Question) -> str:
    print(question.render())
    return question.options[0] if question.options else ""


def settings(folder: Path) -> AgentOptions:
    options = AgentOptions(
        project=folder,
        task="fix it",
        engine="remote",
        scope="src",
        skills=["fix-a-bug"],
        steps=5,
        record=folder / "turns.jsonl",
        on_event=listen,
        on_question=choose,
    )
    project: Path = options.project
    record: Path | None = options.record
    skills: list[str] = options.skills
    print(project, record, skills, options.replace(task="another", on_event=print))
    return options


def tell(result: Result) -> str:
    writes: tuple[str, ...] = result.writes
    refusals: tuple[Refusal, ...] = result.refusals
    steps: tuple[Step, ...] = result.steps
    rules = [refusal.rule for refusal in refusals if refusal.startswith("stay")]
    if result.tests is not None and result.tests.after is not None:
        print(result.tests.after.passed + result.tests.after.failed, result.tests.command)
    if result.stopped == "question":
        return result.summary
    return f"{__version__} {writes} {rules} {steps[0].seconds + result.usage.model_calls} {result.as_dict()['ok']}"


def main() -> int:
    try:
        agent = Agent(settings(Path()))
        print(tell(agent.run()), tell(agent.ask("what does it do?")), agent.options.engine)
    except OptionsError as error:
        print(error.field, error.hint)
        return 2
    except HarnessError:
        return 1
    return 0
