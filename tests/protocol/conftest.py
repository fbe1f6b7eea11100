from __future__ import annotations

from hypothesis import HealthCheck, settings

# a loaded machine is no defect of the parser: bounds on work are counted in test_blocks_linear, not timed
settings.register_profile("tabferry", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tabferry")
