"""Operations:

audits, metrics and webhooks over what other packages recorded; only webhooks send requests.
"""
