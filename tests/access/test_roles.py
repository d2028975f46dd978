"""The one table of who may do what, and the errors that say why not."""

from __future__ import annotations

from uuid import UUID

import pytest

from messor.access.errors import ForbiddenError, UnauthenticatedError
from messor.access.principal import LOCAL_ADMIN, Principal, authorise, authorise_for
from messor.access.roles import NEVER_BY_KEY, PERMISSIONS, Act, Role, acts_of, key_acts_of

SOMEBODY = UUID(int=1)
SOMEBODY_ELSE = UUID(int=2)


def principal(role: Role) -> Principal:
    return Principal(SOMEBODY, "somebody", role, acts_of(role))


def test_every_act_has_its_roles_and_admins_have_every_act() -> None:
    assert set(PERMISSIONS) == set(Act)
    assert acts_of(Role.ADMIN) == set(Act)


def test_each_role_may_what_the_lesser_one_may() -> None:
    lesser = acts_of(Role.VIEWER)
    for role in (Role.SUBMITTER, Role.REVIEWER, Role.ADMIN):
        assert lesser < acts_of(role)
        lesser = acts_of(role)


def test_a_viewer_changes_nothing_but_their_own_account() -> None:
    assert acts_of(Role.VIEWER) == {Act.READ, Act.ACCOUNT_OWN}


@pytest.mark.parametrize("act", [*Act])
@pytest.mark.parametrize("role", [*Role])
def test_authorise_follows_the_table(role: Role, act: Act) -> None:
    who = principal(role)
    if role in PERMISSIONS[act]:
        assert authorise(who, act) is who
    else:
        with pytest.raises(ForbiddenError, match=f"The role {role} does not include {act}"):
            authorise(who, act)


@pytest.mark.parametrize("act", [*Act])
def test_nobody_may_do_nothing(act: Act) -> None:
    with pytest.raises(UnauthenticatedError):
        authorise(None, act)


def test_a_key_is_told_which_scope_it_lacks() -> None:
    key = Principal(SOMEBODY, "a", Role.ADMIN, frozenset({Act.READ}), key_id=SOMEBODY_ELSE)
    assert authorise(key, Act.READ) is key
    with pytest.raises(ForbiddenError, match=r"does not have the scope domains\.review"):
        authorise(key, Act.DOMAINS_REVIEW)


@pytest.mark.parametrize("role", [*Role])
def test_no_key_reaches_accounts(role: Role) -> None:
    assert not key_acts_of(role) & NEVER_BY_KEY
    assert {Act.ACCOUNT_OWN, Act.MEMBERS_MANAGE} <= NEVER_BY_KEY


def test_ones_own_account_is_everybodys_and_that_of_others_the_admins() -> None:
    authorise_for(principal(Role.VIEWER), SOMEBODY)
    authorise_for(principal(Role.ADMIN), SOMEBODY_ELSE)
    authorise_for(LOCAL_ADMIN, SOMEBODY)
    with pytest.raises(ForbiddenError):
        authorise_for(principal(Role.REVIEWER), SOMEBODY_ELSE)


def test_actors_are_named_without_personal_data() -> None:
    assert LOCAL_ADMIN.actor == "local-admin"
    assert principal(Role.VIEWER).actor == f"member:{SOMEBODY}"
    key = Principal(SOMEBODY, "a", Role.ADMIN, frozenset(), key_id=SOMEBODY_ELSE)
    assert key.actor == f"key:{SOMEBODY_ELSE}"
