"""Add up the reports of several pytest runs: `totals.py REPORT.xml ...` prints one line and fails when a test did.

A report that is missing or broken belongs to a run that died, and counts as one failure.
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

passed = failed = skipped = 0
for path in map(Path, sys.argv[1:]):
    try:
        suites = ET.parse(path).getroot().iter("testsuite")  # noqa: S314 - written by our own pytest a moment ago
        counts = [
            {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")} for suite in suites
        ]
    except (OSError, ET.ParseError):
        failed += 1
        continue
    for count in counts:
        broken = count["failures"] + count["errors"]
        failed += broken
        skipped += count["skipped"]
        passed += max(0, count["tests"] - broken - count["skipped"])

print(f"tests: {passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(failed > 0 or passed == 0)
