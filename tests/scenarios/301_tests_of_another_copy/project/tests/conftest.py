"""The package as somebody once installed it."""

import pathlib
import sys
import tempfile

installed = pathlib.Path(tempfile.mkdtemp())
(installed / "shop").mkdir()
(installed / "shop" / "__init__.py").write_text("")
(installed / "shop" / "pricing.py").write_text("def discount(total, percent):\n    return total * (100 - percent) / 100\n")
sys.path.insert(0, str(installed))
