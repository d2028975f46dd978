"""The sections of a configuration, in the order in which they are applied."""

from messor.configuration.model import Section
from messor.configuration.sections.domains import Domains
from messor.configuration.sections.exports import Exports
from messor.configuration.sections.members import Members
from messor.configuration.sections.retention import Retention
from messor.configuration.sections.schedules import Schedules
from messor.configuration.sections.traffic import AllTraffic
from messor.configuration.sections.watches import Watches

SECTIONS: tuple[Section, ...] = (
    Domains(),
    Members(),
    Retention(),
    Watches(),
    Exports(),
    Schedules(),
    AllTraffic(),
)
