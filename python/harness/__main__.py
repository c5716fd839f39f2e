"""`python -m harness`: the command `harness`, started as the native program that was installed with this package."""

import os
import sys


def native_program() -> str:
    """Returns the program that this package's own install put down, or an empty string."""
    name = "harness.exe" if os.name == "nt" else "harness"
    if sys.prefix != sys.base_prefix:
        program = os.path.join(os.path.dirname(sys.executable), name)
        return program if os.access(program, os.X_OK) else ""
    # Outside a virtualenv another program of this name may stand beside the interpreter. Only the scripts folder that
    # belongs to the place of this package holds ours.
    import sysconfig

    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        program = os.path.join(sysconfig.get_path("scripts", scheme), name)
        if here == sysconfig.get_path("platlib", scheme) and os.access(program, os.X_OK):
            return program
    return ""


def main() -> int:
    """Becomes the native program; where there is none, runs the same code inside this interpreter."""
    # `python -m` looks for modules in the current folder first. That is the user's project, and a `signal.py` in it is
    # not Python's own.
    sys.path[:] = [folder for folder in sys.path if folder not in ("", os.getcwd())]
    started_as = f"{os.path.basename(sys.orig_argv[0])} -m harness"
    arguments = [started_as, *sys.argv[1:]]
    program = native_program()
    if not program:
        import signal

        from harness import _harness

        # Ctrl-C is the program's; Python's own handler would raise an exception after it has ended in order.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return _harness.main(arguments)
    if os.name != "nt":
        os.execv(program, arguments)
    # Windows cannot replace a process: wait for the program, which hears Ctrl-C from the console itself.
    import subprocess

    process = subprocess.Popen(arguments, executable=program)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    sys.exit(main())
