"""The one record of what happened: durable, append-only, read by everybody."""

from bridge.journal import paths
from bridge.journal.event import EVENT_VERSION, Event
from bridge.journal.journal import Archive, Journal
from bridge.journal.reader import JournalReader, SessionRow
from bridge.journal.subscription import Subscription

__all__ = ["EVENT_VERSION", "Archive", "Event", "Journal", "JournalReader", "SessionRow", "Subscription", "paths"]
