"""`kcluster job`: options and help of the job commands.

Each command imports only its own operation: `job list` and `job status` must answer at once.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import Bootstrap, Inventory, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.results import Result

app = typer.Typer(
    help="List, validate, submit, watch, stop and audit PySpark jobs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

JobName = Annotated[
    str,
    typer.Argument(metavar="NAME", autocompletion=complete.submitted_jobs, help="The job's name, or CLUSTER/NAME."),
]


@app.command("list")
def list_(output: Output = show.OutputFormat.TABLE) -> Result:
    """List the jobs there are to run, and those that were submitted on this machine."""
    from kcluster.operations.job import status as look

    return look.listing()


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The job's YAML file.")],
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Check a job's file and report everything that is wrong with it at once; needs no Spark."""
    from kcluster.operations.job import validate as operation

    return operation.validate(file)


@app.command()
def submit(
    job: Annotated[
        str, typer.Argument(metavar="JOB", autocompletion=complete.jobs, help="Which job: see kcluster job list.")
    ],
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="The job's YAML file; without, the example's.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Read what is there, then end; shows each batch. For cron.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Stay and show each batch; Ctrl-C ends the job after the one in hand.")
    ] = False,
    master: Annotated[
        str,
        typer.Option(
            "--master",
            metavar="MASTER",
            help="Where Spark runs: spark://..., yarn, k8s://..., local[2]; without, the inventory's Spark, "
            "and this machine where it has none.",
        ),
    ] = "",
    job_name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The job's name; without, the one of its file.")
    ] = "",
    shared_path: Annotated[
        bool, typer.Option("--shared-path", help="Folders of this machine are the same on every Spark host.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, then print the line that would run.")
    ] = False,
    inventory: Inventory = None,
    name: Annotated[
        str | None,
        typer.Option(
            "-n", metavar="CLUSTER", autocompletion=complete.local_clusters, help="A cluster on this machine."
        ),
    ] = None,
    bootstrap: Bootstrap = None,
    client_config: Annotated[
        Path | None,
        typer.Option("--client-config", metavar="FILE", help="Properties of a Java client: security, ..."),
    ] = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Start a job: checks file, brokers, topics, checkpoint and sink first; returns when it runs.

    The job goes on when the terminal closes. What it wrote before is never written again, however it ended.

    Examples:

      kcluster job submit ingest --config orders.yml -i inventories/prod

      kcluster job submit ingest --once

      kcluster job submit ingest --dry-run | sh
    """
    from kcluster.operations.job import submit as operation

    if once and follow:
        raise UsageError("--once shows each batch already", resolution="leave out --follow")
    target = Target(inventory, name, bootstrap, client_config)
    cluster = bootstrap.partition(",")[0].replace(":", "_") if bootstrap else target.cluster.name
    engine = None if bootstrap else target.cluster.engine
    wish = operation.SubmitRequest(
        job, config, job_name, master, engine, target.client, shared_path, once, follow, dry_run
    )
    return operation.submit(target.kafka, cluster, wish, show.progress)


@app.command()
def status(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", autocompletion=complete.submitted_jobs, help="One job in detail."),
    ] = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show the jobs of this machine: state, last batch, lag, and what to do about one that ended badly."""
    from kcluster.operations.job import status as look

    return look.status(job)


@app.command()
def stop(
    job: JobName,
    now: Annotated[
        bool, typer.Option("--now", help="In the middle of a batch; the next run does that batch again.")
    ] = False,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait for it.")] = 300.0,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop a job after the batch in hand, and wait until it has ended."""
    from kcluster.operations.job import stop as operation

    return operation.stop(job, now=now, within=timeout, progress=show.progress)


@app.command()
def logs(
    job: JobName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new lines until the job ends.")] = False,
    last: Annotated[int, typer.Option("--last", min=0, metavar="N", help="How many of the last lines.")] = 50,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show the last lines of a job's log: the whole of what Spark says about a failure."""
    from kcluster.operations.job import logs as operation

    if follow and output is not show.OutputFormat.TABLE:
        raise UsageError("lines that never end make no JSON or YAML", resolution="leave out --follow or --output")
    if follow and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # also into a pipe a line is there as soon as it is written
    return operation.logs(job, last, follow=follow)


@app.command()
def audit(job: JobName, output: Output = show.OutputFormat.TABLE) -> Result:
    """Reconcile: for each partition, records read against rows and dead letters; exit 4 when they differ."""
    from kcluster.operations.job import audit as operation

    return operation.audit(job, show.progress)


@app.command()
def dashboard(
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            autocompletion=complete.submitted_jobs,
            help="The job `latest` to show, when there are several: its name, or CLUSTER/NAME.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where it is served.")] = 8650,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to serve at; it asks for no password.")
    ] = "127.0.0.1",
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="In the background, until `kcluster job stop` ends it.")
    ] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show on a web page where each truck is now, from what the job `latest` writes.

    Example: kcluster job dashboard --port 8651
    """
    from kcluster.operations.job import dashboard as operation

    if detach:
        return operation.detach(job, host, port)
    return operation.serve(job, host, port, show.progress)
