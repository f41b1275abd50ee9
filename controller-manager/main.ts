#!/usr/bin/env node
import { readBuild } from '../shared/build';
import { createClient } from '../shared/client/client';
import { loadKubeconfig } from '../shared/client/kubeconfig';
import { defined } from '../shared/defined';
import { parseFeatureGates } from '../shared/flags/feature-gates';
import type { FlagValues } from '../shared/flags/flag-row';
import { metricChoice, metricProblems } from '../shared/metrics/metric-choice';
import { dialect } from '../shared/names';
import { createAccountClients } from './runtime/account-clients';
import { openSigning, SigningFilesError, signingProblems } from './certificates/signing';
import type { Controller } from './runtime/controller';
import { MANAGER_GATES } from './runtime/controller-options';
import { CONTROLLERS, controllersWith, selectControllers } from './controllers';
import { FLAGS } from './flags';
import { FOREIGN_FLAGS } from './foreign-flags';
import type { Started } from './runtime/program';
import { EXIT, runProgram } from './runtime/program';
import { electionOf, electionProblems } from './runtime/program-flags';
import { TokenKeyError, readTokenKey } from './runtime/token-key-file';
import { RootCaError, openRootCaFile } from './runtime/root-ca-file';
import { runControllerManager } from './run';
import { createMetrics } from './runtime/serving/metrics';
import { servingProblems } from './runtime/serving/serving-flags';
import { openStatusListener } from './runtime/serving/status-listener';

const PROGRAM = 'orch-controller-manager';
const SUMMARY =
  'Runs the controllers: the loops that bring the state of the cluster in line with what its objects ask for.';

type Values = FlagValues<typeof FLAGS>;

runProgram({
  name: PROGRAM,
  summary: SUMMARY,
  flags: FLAGS,
  foreign: FOREIGN_FLAGS,
  refusals: [RootCaError, SigningFilesError, TokenKeyError],
  check: (values) => {
    const gates = parseFeatureGates(values.featureGates, MANAGER_GATES);
    const { unknown } = selected(values);
    return {
      problems: [
        ...(gates.ok ? [] : gates.errors),
        ...unknown.map((name) => `--controllers: there is no controller named "${name}"`),
        ...(values.kubeconfig === '' ? ['--kubeconfig is required'] : []),
        ...(values.namespaceSyncPeriodMs > 0 ? [] : ['--namespace-sync-period must be more than 0']),
        ...(values.resourceQuotaSyncPeriodMs > 0 ? [] : ['--resource-quota-sync-period must be more than 0']),
        ...(values.kubeApiRequestTimeoutMs > 0 ? [] : ['--kube-api-request-timeout must be more than 0']),
        ...servingProblems(values),
        ...metricProblems(values),
        ...signingProblems(values),
        ...electionProblems(values),
      ],
      warnings: gates.ok ? gates.warnings : [],
    };
  },
  run,
});

function selected(values: Values): {
  readonly selected: readonly Controller[];
  readonly unknown: readonly string[];
} {
  // The first word about a controller wins.
  const words = [...(values.enableGarbageCollector ? [] : ['-garbagecollector']), ...values.controllers];
  const gates = parseFeatureGates(values.featureGates, MANAGER_GATES);
  return selectControllers(words, gates.ok ? controllersWith(gates.gates) : CONTROLLERS);
}

async function run({ values, given, log, signal }: Started<Values>): Promise<number> {
  const controllers = selected(values).selected;
  const parsedGates = parseFeatureGates(values.featureGates, MANAGER_GATES);
  const metrics = createMetrics({ process: true, build: readBuild(), choice: metricChoice(values) });
  const server = loadKubeconfig({ path: values.kubeconfig }).client;
  const rootCa =
    values.rootCaFile === '' ? server.ca?.toString() : openRootCaFile(values.rootCaFile, { log, signal });
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
          ...defined({ rootCa, signing, tokenKey, gates: parsedGates.ok ? parsedGates.gates : undefined }),
        },
        election: electionOf(values),
      },
      signal,
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
