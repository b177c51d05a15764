"""Strict readers of JSON and YAML that people and programs wrote."""

from handrail.data_files import parse_json as parse_json
from handrail.data_files import parse_yaml_1_2 as parse_yaml_1_2
from handrail.data_files import read_text as read_text
