"""Reading the pages that Kafka's classes print."""

from __future__ import annotations

import json

from kcluster.releases.tables import rows, text

PAGE = """<ul class="config-list">
<li>
<h4><a id="log.retention.ms"></a><a id="x_log.retention.ms" href="#x">log.retention.ms</a></h4>
<p>How long a log is kept, &lt;see&gt; <code>log.retention.hours</code>.<br>Or not.</p>
<table><tbody>
<tr><th>Type:</th><td>long</td></tr>
<tr><th>Default:</th><td>604800000 (7 days)</td></tr>
<tr><th>Valid Values:</th><td>[-1,...]</td></tr>
<tr><th>Importance:</th><td>high</td></tr>
<tr><th>Update Mode:</th><td>cluster-wide</td></tr>
</tbody></table>
</li>
<li>
<h4><a id="cleanup.policy"></a><a id="y" href="#y">cleanup.policy</a></h4>
<p></p>
<table><tbody>
<tr><th>Type:</th><td>list</td></tr>
<tr><th>Default:</th><td>""</td></tr>
<tr><th>Valid Values:</th><td></td></tr>
<tr><th>Server Default Property:</th><td>log.cleanup.policy</td></tr>
<tr><th>Importance:</th><td>medium</td></tr>
</tbody></table>
</li>
</ul>
"""


def test_a_page_becomes_one_row_for_each_property() -> None:
    assert dict(rows(PAGE)) == {
        "log.retention.ms": [
            "long",
            "604800000",
            "[-1,...]",
            "high",
            "cluster-wide",
            "How long a log is kept, <see> log.retention.hours. Or not.",
        ],
        "cleanup.policy": ["list", "", "", "medium", "", "", "log.cleanup.policy"],
    }


def test_the_packaged_form_has_a_line_for_each_property() -> None:
    packaged = text({"broker": dict(rows(PAGE)), "topic": {}})
    assert packaged.splitlines()[1].startswith('"cleanup.policy": ["list", ')
    assert packaged.splitlines()[2].startswith('"log.retention.ms": ["long", ')
    assert set(json.loads(packaged)) == {"broker", "topic"}
