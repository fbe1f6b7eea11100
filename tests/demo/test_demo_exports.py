import bridge.demo


def test_public_names() -> None:
    assert bridge.demo.__all__ == [
        "CONVERSATIONS",
        "Demo",
        "DemoServer",
        "Exchange",
        "Faults",
        "ScriptedModel",
        "copy_sample",
    ]
    assert all(hasattr(bridge.demo, name) for name in bridge.demo.__all__)
