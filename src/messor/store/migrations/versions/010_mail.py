"""The outbox of mails; links to the state of a submission; when its submitter was told of pages."""

from alembic import op

revision = "010_mail"
down_revision = "009_listed_products"
branch_labels = None
depends_on = None

MAILS = """
CREATE TABLE messor.mails (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind <> ''),
  domain_id uuid REFERENCES messor.domains (id) ON DELETE CASCADE,
  recipient text NOT NULL CHECK (length(recipient) BETWEEN 1 AND 320),
  subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 300),
  body text NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'manual')),
  last_error text,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  sent_at timestamptz,
  CHECK ((sent_at IS NOT NULL) = (state = 'sent'))
)
"""


def upgrade() -> None:
    op.execute(MAILS)
    op.execute("CREATE INDEX mails_domain ON messor.mails (domain_id, created_at DESC)")
    op.execute("CREATE INDEX mails_age ON messor.mails (created_at)")
    op.execute(
        """ALTER TABLE messor.domain_submissions ADD COLUMN token text COLLATE "C" UNIQUE,
           ADD COLUMN live_told_at timestamptz"""
    )
    # Whoever submitted before is not told of pages that have long been there.
    op.execute(
        """UPDATE messor.domain_submissions s SET live_told_at = messor.clock()
             FROM messor.domains d WHERE d.id = s.domain_id AND d.status <> 'pending_review'"""
    )
    op.execute(
        """CREATE INDEX domain_submissions_untold ON messor.domain_submissions (domain_id)
            WHERE live_told_at IS NULL"""
    )


def downgrade() -> None:
    op.execute(
        """ALTER TABLE messor.domain_submissions DROP COLUMN token, DROP COLUMN live_told_at"""
    )
    op.execute("DROP TABLE messor.mails")
