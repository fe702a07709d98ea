"""Every finding's command, run again."""

import pytest

from verify import ids, load_finding


@pytest.mark.quick
@pytest.mark.parametrize("name", ids("finding"))
def test_reproduced(ledger, name):
    ledger.reproduce(load_finding(name))
