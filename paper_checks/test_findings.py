"""Every finding's command, run again."""

import pytest

from verify import finding_ids, load_finding


@pytest.mark.quick
@pytest.mark.parametrize("name", finding_ids())
def test_reproduced(ledger, name):
    ledger.reproduce(load_finding(name))
