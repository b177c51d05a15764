"""Outgoing HTTP to addresses that are checked and pinned first."""

from handrail.net.addresses import AddressAllowlist as AddressAllowlist
from handrail.net.body import ResponseTooLarge as ResponseTooLarge
from handrail.net.body import decode as decode
from handrail.net.body import is_binary as is_binary
from handrail.net.body import remove_invisible as remove_invisible
from handrail.net.fetcher import Fetcher as Fetcher
from handrail.net.fetcher import FetchOptions as FetchOptions
from handrail.net.fetcher import FetchRequest as FetchRequest
from handrail.net.fetcher import FetchResponse as FetchResponse
from handrail.net.fetcher import optional_import as optional_import
from handrail.net.fetcher import retry_after as retry_after
from handrail.net.url import Url as Url
from handrail.net.url import parse_url as parse_url
