"""A catalogue as a company has one, and what people and agents type to find their way in it."""

from __future__ import annotations

from typing import Any

from handrail import Tool, define

_TOOLS = """
data.searchRecords | Search and filter records by region and status. | region category status limit |
data.getRecord | Read one record with all its fields. | id |
data.createRecord | Create a record. | name region category | records.add
data.updateRecord | Change fields of a record. | id fields |
data.deleteRecord | Delete a record for good. | id |
data.scoreRecord | Rate a record against the criteria. | id criteria |
data.exportRecords | Write records to a CSV or Excel file. | format filters | export_csv
data.importRecords | Load records from a spreadsheet. | file_path mapping |
read_file | Read a file of the workspace. | path offset limit | read cat
write_file | Write text to a file, replacing what was there. | path content | write
edit_file | Replace text inside a file. | path old new | edit
list_files | List the files in a folder. | path recursive | ls dir
file_delete | Delete a file. | path | rm
glob | Find files whose names match a pattern. | pattern |
grep | Search the contents of files with a regular expression. | pattern path |
get_file_info | Say how large a file is and when it was changed. | path | stat
bash | Run a command in the shell. | command timeout | shell_exec terminal
web.search | Search the web. | query | webSearch google
web.fetch | Fetch a page and return it as Markdown. | url | webfetch
web.validateDomain | Check whether a domain is active. | domain |
web.searchCompany | Research a company on the web. | company |
web.screenshot | Take a picture of a web page. | url width |
calendar.listEvents | List the meetings and other events of a day or a week. | from to |
calendar.createEvent | Put a meeting into the calendar and invite. | title start attendees | schedule_meeting
calendar.cancelEvent | Cancel a meeting and tell those invited. | event_id |
calendar.findFreeTime | Find a time when everybody is free. | attendees duration | availability
mail.send | Send an e-mail. | to subject body | send_email
mail.search | Search the mailbox. | query folder |
mail.reply | Answer a message. | message_id body |
mail.createDraft | Write an e-mail without sending it. | to subject body |
slack.postMessage | Post a message to a channel. | channel text |
slack.listChannels | List channels. | |
billing.createInvoice | Make out an invoice to a customer. | customer_id items due_date |
billing.sendInvoice | Send an invoice to its customer. | invoice_id |
billing.listInvoices | List invoices, open or paid. | status customer_id |
billing.refundPayment | Give a customer the money back. | payment_id amount | chargeback
billing.getBalance | Say what a customer still owes. | customer_id |
billing.cancelSubscription | End a subscription at the end of its period. | subscription_id | unsubscribe
crm.findContact | Look up a contact by name, phone or address. | name phone |
crm.createContact | Add a person to the contacts. | name email company |
crm.mergeContacts | Merge two contacts that are the same person. | keep_id drop_id | deduplicate
crm.logCall | Note down what was said on the phone. | contact_id notes |
git.commit | Record the changes of the working tree. | message | checkin
git.diff | Show what changed between two versions. | from to |
git.createBranch | Start a new branch. | name base |
git.push | Publish the commits of a branch. | remote branch |
github.createPullRequest | Open a pull request. | title base head body | open_pr
github.listIssues | List the issues of a repository. | repo state labels |
github.commentIssue | Comment on an issue. | issue_number body |
github.mergePullRequest | Merge a pull request. | number method |
docs.searchDocuments | Search documents by meaning and by words. | query |
docs.summarize | Summarise a document in a few sentences. | document_id length |
docs.translate | Translate a text into another language. | text language |
docs.convertToPdf | Turn a document into a PDF. | document_id | print_to_pdf
hr.requestLeave | Ask for vacation. | from to reason | time_off holiday
hr.listEmployees | List the people who work here. | department |
analytics.runQuery | Run a SQL query against the warehouse. | sql |
analytics.buildReport | Build a report with tables and charts. | title metrics |
analytics.roiCalculator | Work out payback period and return on an investment. | cost benefit years |
images.generate | Draw an image from a description. | prompt size |
images.resize | Make an image smaller or larger. | image_id width height |
weather.forecast | Say what the weather will be. | place days |
users.grantRole | Give a user a role. | user_id role |
users.resetPassword | Send somebody a link to set a new password. | user_id |
deploy.rollback | Go back to the version that ran before. | service version |
deploy.releaseService | Bring a new version of a service into production. | service version | ship_it
monitoring.listAlerts | List alarms that are going off now. | severity |
monitoring.getLogs | Read the log lines of a service. | service since |
"""

QUERIES = """
search records | data.searchRecords
find a record | data.searchRecords data.getRecord
searching for records in a region | data.searchRecords
filter by status and category | data.searchRecords
remove a record | data.deleteRecord
deleting records | data.deleteRecord
modify record | data.updateRecord
csv export | data.exportRecords
exportRecords | data.exportRecords
import a spreadsheet | data.importRecords
new contact | crm.createContact
duplicate contacts | crm.mergeContacts
serch recrods | data.searchRecords
calender events | calendar.listEvents
schedule a meeting with Bo | calendar.createEvent
when is everybody free | calendar.findFreeTime
call off the meeting | calendar.cancelEvent
send email | mail.send
sending e-mails | mail.send
write a mail but do not send it | mail.createDraft
webfetch | web.fetch
download a web page | web.fetch
google something | web.search
WebSearch | web.search
github issues | github.listIssues
open a PR | github.createPullRequest
pullRequest merge | github.mergePullRequest
git commit | git.commit
which files are in this directory | list_files
regex search in file contents | grep
run shell command | bash
refund | billing.refundPayment
give money back to the customer | billing.refundPayment
unpaid invoices | billing.listInvoices
invoicing a customer | billing.createInvoice
unsubscribe | billing.cancelSubscription
translation | docs.translate
summarize document | docs.summarize
summarisation of a document | docs.summarize
pdf | docs.convertToPdf
vacation | hr.requestLeave
time off | hr.requestLeave
employees | hr.listEmployees
sql | analytics.runQuery
roi | analytics.roiCalculator
return on investment calculator | analytics.roiCalculator
make a picture smaller | images.resize
generate image | images.generate
forgot my password | users.resetPassword
give someone the admin role | users.grantRole
roll back the deployment | deploy.rollback
rollbak | deploy.rollback
service logs | monitoring.getLogs
alerts going off | monitoring.listAlerts
post to a slack channel | slack.postMessage
what does the customer owe | billing.getBalance
weather tomorrow | weather.forecast
look up company | web.searchCompany
"""


def _tool(line: str) -> Tool:
    tool_id, description, params, aliases = (part.strip() for part in line.split("|"))
    given: dict[str, Any] = {
        "description": description,
        "level": "read",
        "params": {name: {"type": "string"} for name in params.split()},
        "aliases": aliases.split(),
        "execute": lambda args: tool_id,
    }
    return define(tool_id, given)


def catalogue() -> list[Tool]:
    return [_tool(line) for line in _TOOLS.strip().split("\n")]


def labelled() -> list[tuple[str, set[str]]]:
    """Queries and the tools of which one is meant."""
    lines = [line.partition("|") for line in QUERIES.strip().split("\n")]
    return [(query.strip(), set(meant.split())) for query, _, meant in lines]
