"""`kcluster job`: options and help.

Each command imports only its own operation: `job list` and `job status` must answer at once.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import Bootstrap, Inventory, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.results import Result

app = typer.Typer(
    cls=CommandGroup,
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
    """List the known jobs, and those submitted on this machine."""
    from kcluster.operations.job import status as look

    return look.list_jobs()


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The job's YAML file.")],
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Check a job file and report all findings at once; needs no Spark."""
    from kcluster.operations.job import validate as operation

    return operation.validate(file)


@app.command()
def submit(
    job: Annotated[
        str, typer.Argument(metavar="JOB", autocompletion=complete.jobs, help="The type of job: see kcluster job list.")
    ],
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="The job's YAML file; default: the example of the job."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Read all records present now, then end; shows each batch. For cron.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Stay and show each batch; Ctrl-C stops the job after the running batch.")
    ] = False,
    master: Annotated[
        str,
        typer.Option(
            "--master",
            metavar="MASTER",
            help="Spark master: spark://..., yarn, k8s://..., local[2]; default: the inventory's Spark cluster, "
            "else this machine.",
        ),
    ] = "",
    job_name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The job's name; default: the name in its file.")
    ] = "",
    shared_path: Annotated[
        bool, typer.Option("--shared-path", help="Local sink and checkpoint folders are mounted on every Spark host.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run all checks, then print the command that would run.")
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
    """Check file, brokers, topics, checkpoint and sink, then start a job; returns when it runs.

    The job runs on when the terminal closes. It continues from its checkpoint, without losing or duplicating records.

    Examples:

      kcluster job submit ingest --config orders.yml -i inventories/prod

      kcluster job submit ingest --once

      kcluster job submit ingest --dry-run | sh
    """
    from kcluster.operations.job import submit as operation

    if once and follow:
        raise UsageError("--once includes --follow", resolution="remove --follow")
    target = Target(inventory, name, bootstrap, client_config)
    cluster = bootstrap.partition(",")[0].replace(":", "_") if bootstrap else target.cluster.name
    spark_cluster = None if bootstrap else target.cluster.engine
    request = operation.SubmitRequest(
        job, config, job_name, master, spark_cluster, target.client, shared_path, once, follow, dry_run
    )
    return operation.submit(target.kafka, cluster, request, show.progress)


@app.command()
def status(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", autocompletion=complete.submitted_jobs, help="One job in detail."),
    ] = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show the jobs of this machine: state, last batch, lag, and cause and remedy of a failure."""
    from kcluster.operations.job import status as look

    return look.status(job)


@app.command()
def stop(
    job: JobName,
    now: Annotated[
        bool, typer.Option("--now", help="Kill it during its batch; the next run repeats that batch.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait for the running batch.")
    ] = 300.0,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop a job after its running batch, and wait until it has ended."""
    from kcluster.operations.job import stop as operation

    return operation.stop(job, now=now, within=timeout, progress=show.progress)


@app.command()
def logs(
    job: JobName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new lines until the job ends.")] = False,
    last: Annotated[int, typer.Option("--last", min=0, metavar="N", help="Number of lines.")] = 50,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show the last lines of a job's log, with the full errors of Spark."""
    from kcluster.operations.job import logs as operation

    if follow and not output.for_people:
        raise UsageError("--follow works only with --output table", resolution="remove --follow or --output")
    if follow and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # lines reach a pipe as soon as they are written
    return operation.logs(job, last, follow=follow)


@app.command()
def audit(job: JobName, output: Output = show.OutputFormat.TABLE) -> Result:
    """Compare the records read with rows and dead letters for each partition; exit 4 when they differ."""
    from kcluster.operations.job import audit as operation

    return operation.audit(job, show.progress)


@app.command()
def dashboard(
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            autocompletion=complete.submitted_jobs,
            help="The `latest` job to show when there are several: NAME or CLUSTER/NAME.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen on.")] = 8650,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; the page has no password.")
    ] = "127.0.0.1",
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Run in the background, until `kcluster job stop`.")
    ] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Serve a web page with the newest position of each truck, from the output of the job `latest`.

    Example: kcluster job dashboard --port 8651
    """
    from kcluster.operations.job import dashboard as operation

    if detach:
        return operation.detach(job, host, port)
    return operation.serve(job, host, port, show.progress)
