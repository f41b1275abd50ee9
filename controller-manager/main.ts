#!/usr/bin/env node
import { readBuild } from '../shared/build';
import { parseVersionFlag } from '../shared/flags/version-flag';
import { createClient } from '../shared/client/client';
import { KubeconfigError, loadKubeconfig } from '../shared/client/kubeconfig';
import { defined } from '../shared/defined';
import { parseFeatureGates } from '../shared/flags/feature-gates';
import type { FlagValues } from '../shared/flags/flag-row';
import { writeHelp } from '../shared/flags/help';
import { parseFlags } from '../shared/flags/parse-flags';
import type { Log } from '../shared/log/log';
import { createProcessLog } from '../shared/log/pino-log';
import { metricChoice, metricProblems } from '../shared/metrics/metric-choice';
import { dialect } from '../shared/names';
import { createAccountClients } from './runtime/account-clients';
import { openSigning, SigningFilesError, signingProblems } from './certificates/signing';
import type { Controller } from './runtime/controller';
import { MANAGER_GATES } from './runtime/controller';
import { CONTROLLERS, controllersWith, selectControllers } from './controllers';
import { FLAGS } from './flags';
import { FOREIGN_FLAGS } from './foreign-flags';
import { TokenKeyError, readTokenKey } from './runtime/token-key-file';
import { RootCaError, readCertificates } from './runtime/root-ca-file';
import { runControllerManager } from './run';
import { ListenerError } from './runtime/serving/listener';
import { ServingCertificateError } from './runtime/serving/serving-certificate';
import { createMetrics } from './runtime/serving/metrics';
import { servingProblems } from './runtime/serving/serving-flags';
import { openStatusListener } from './runtime/serving/status-listener';

const PROGRAM = 'orch-controller-manager';
const SUMMARY =
  'Runs the controllers: the loops that bring the state of the cluster in line with what its objects ask for.';
const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Errors of unusable files and addresses; their messages are complete. */
const REFUSALS = [
  KubeconfigError,
  RootCaError,
  SigningFilesError,
  TokenKeyError,
  ServingCertificateError,
  ListenerError,
] as const;

type Values = FlagValues<typeof FLAGS>;

async function main(given: readonly string[]): Promise<number> {
  const version = parseVersionFlag(PROGRAM, given);
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const { argv } = version;
  const parsed = parseFlags(FLAGS, argv, FOREIGN_FLAGS);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAGS, { program: PROGRAM, summary: SUMMARY, foreign: FOREIGN_FLAGS });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  const { values } = parsed;
  // The first word about a controller wins.
  const words = [...(values.enableGarbageCollector ? [] : ['-garbagecollector']), ...values.controllers];
  const featureGates = parseFeatureGates(values.featureGates, MANAGER_GATES);
  const there = featureGates.ok ? controllersWith(featureGates.gates) : CONTROLLERS;
  const { selected, unknown } = selectControllers(words, there);
  const problems = [
    ...(featureGates.ok ? [] : featureGates.errors),
    ...unknown.map((name) => `--controllers: there is no controller named "${name}"`),
    ...(values.kubeconfig === '' ? ['--kubeconfig is required'] : []),
    ...(values.namespaceSyncPeriodMs > 0 ? [] : ['--namespace-sync-period must be more than 0']),
    ...(values.resourceQuotaSyncPeriodMs > 0 ? [] : ['--resource-quota-sync-period must be more than 0']),
    ...(values.kubeApiRequestTimeoutMs > 0 ? [] : ['--kube-api-request-timeout must be more than 0']),
    ...servingProblems(values),
    ...metricProblems(values),
    ...signingProblems(values),
    ...electionProblems(values),
  ];
  if (problems.length > 0) return refuse(problems);
  const warnings = [...parsed.warnings, ...(featureGates.ok ? featureGates.warnings : [])];
  return run({ values, given: parsed.given, warnings, controllers: selected });
}

async function run(options: RunningOptions): Promise<number> {
  try {
    return await work(options);
  } catch (error) {
    if (!REFUSALS.some((refusal) => error instanceof refusal)) throw error;
    return refuse([(error as Error).message]);
  }
}

interface RunningOptions {
  readonly values: Values;
  /** The names of the flags on the command line. */
  readonly given: ReadonlySet<string>;
  /** Warnings to log at the start. */
  readonly warnings: readonly string[];
  readonly controllers: readonly Controller[];
}

async function work({ values, given, warnings, controllers }: RunningOptions): Promise<number> {
  const { log } = createProcessLog({ format: values.loggingFormat, verbosity: values.v });
  for (const warning of warnings) log.warn({}, warning);
  const metrics = createMetrics({ process: true, build: readBuild(), choice: metricChoice(values) });
  const server = loadKubeconfig({ path: values.kubeconfig }).client;
  const rootCa = values.rootCaFile === '' ? server.ca?.toString() : readCertificates(values.rootCaFile);
  const signing = openSigning(values, log);
  const tokenKey = readTokenKey(values.serviceAccountPrivateKeyFile);
  const clientOptions = {
    ...server,
    log,
    userAgent: PROGRAM,
    timeoutMs: values.kubeApiRequestTimeoutMs,
    observe: metrics.observerOf(server.server),
    outage: { isReported: false },
  };
  const client = createClient(clientOptions);
  const isPortGiven = given.has('secure-port');
  const listener = await openStatusListener(values, { client, metrics, log, isPortGiven });
  const accounts = createAccountClients({ client, clientOptions });
  log.info(
    { server: server.server, dialect, controllers: controllers.map(({ name }) => name) },
    `starting ${PROGRAM}`,
  );
  try {
    const end = await runControllerManager(
      {
        client,
        clientOf: values.useServiceAccountCredentials ? accounts.clientOf : undefined,
        log,
        metrics,
        controllers,
        controllerOptions: {
          ...values,
          ...defined({ rootCa, signing, tokenKey }),
        },
        election: values.leaderElect
          ? {
              lease: {
                namespace: values.leaderElectResourceNamespace,
                name: values.leaderElectResourceName,
              },
              leaseDurationMs: values.leaderElectLeaseDurationMs,
              renewDeadlineMs: values.leaderElectRenewDeadlineMs,
              retryPeriodMs: values.leaderElectRetryPeriodMs,
            }
          : undefined,
      },
      stopSignal(log),
    );
    if (end === 'lost') log.error({}, 'leader election lost; exiting');
    else log.info({}, 'stopped');
    return end === 'lost' ? EXIT.failure : EXIT.ok;
  } finally {
    listener?.close();
    accounts.close();
    client.close();
  }
}

/** Aborts at the first SIGTERM or SIGINT; the second one ends the process at once. */
function stopSignal(log: Log): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(EXIT.failure);
    log.info({ signal: name }, 'stopping');
    stop.abort(new Error(`received ${name}`));
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return stop.signal;
}

function electionProblems(values: Values): string[] {
  if (!values.leaderElect) return [];
  const { leaderElectLeaseDurationMs, leaderElectRenewDeadlineMs, leaderElectRetryPeriodMs } = values;
  return [
    ...(leaderElectRetryPeriodMs > 0 ? [] : ['--leader-elect-retry-period must be more than 0']),
    ...(leaderElectLeaseDurationMs > leaderElectRenewDeadlineMs
      ? []
      : ['--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline']),
    ...(leaderElectRenewDeadlineMs > 1.2 * leaderElectRetryPeriodMs
      ? []
      : ['--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period']),
  ];
}

function refuse(problems: readonly string[]): number {
  const lines = problems.map((problem) => `${PROGRAM}: ${problem}\n`);
  process.stderr.write(`${lines.join('')}Run ${PROGRAM} --help for all flags.\n`);
  return EXIT.usage;
}

main(process.argv.slice(2)).then(
  (code) => {
    // Closing sockets must not hold the process; the log is synchronous.
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(
      `${PROGRAM}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(EXIT.failure);
  },
);
