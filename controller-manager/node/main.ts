#!/usr/bin/env node
import { isIP } from 'node:net';
import { apiLevel, formatApiLevel } from '../../shared/api-level';
import { readBuild } from '../../shared/build';
import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import { pause } from '../../shared/concurrency/pause';
import type { FlagValues } from '../../shared/flags/flag-row';
import type { Log } from '../../shared/log/log';
import { parseQuantity } from '../../shared/meta/quantity';
import { METRIC_FLAGS, metricChoice, metricProblems } from '../../shared/metrics/metric-choice';
import { dialect } from '../../shared/names';
import { waitForApiServer } from '../runtime/api-server-wait';
import type { Started } from '../runtime/program';
import { EXIT, runProgram } from '../runtime/program';
import { DIALECT_FLAG, LOG_FLAGS } from '../runtime/program-flags';
import { createMetrics } from '../runtime/serving/metrics';
import { SERVING_FLAGS, servingProblems } from '../runtime/serving/serving-flags';
import { openStatusListener } from '../runtime/serving/status-listener';
import type { AgentListener } from './agent-listener';
import { openAgentListener } from './agent-listener';
import { METRICS_HOST, readFrontProxy, registerMetrics } from './metrics-service';
import { NODE_ADDRESSES, NODES_MAX } from './pod-addresses';
import { StandInNodes } from './stand-in-nodes';

const PROGRAM = 'orch-node';
const SUMMARY =
  'Registers stand-in nodes, for development and tests: they report the pods that are bound to them as running, ready, completed or failed by rules, and run no containers. Run one process for a cluster.';
const LOOPBACK = '127.0.0.1';
const REGISTER_RETRY_MS = 2_000;
const STOP_TIMEOUT_MS = 5_000;

const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig file with the address of the API server and the credentials of this process.',
  },
  DIALECT_FLAG,
  {
    name: 'nodes',
    type: 'int',
    default: 1,
    min: 1,
    max: NODES_MAX,
    group: 'Nodes',
    help: 'The number of nodes.',
  },
  {
    name: 'node-name-prefix',
    type: 'string',
    default: 'node',
    group: 'Nodes',
    help: 'The names of the nodes are this, and then -1, -2 and so on.',
  },
  {
    name: 'node-cpu',
    type: 'string',
    default: '8',
    group: 'Nodes',
    help: 'The processor cores of each node.',
  },
  { name: 'node-memory', type: 'string', default: '16Gi', group: 'Nodes', help: 'The memory of each node.' },
  {
    name: 'node-pods',
    type: 'int',
    default: 110,
    min: 1,
    max: NODE_ADDRESSES,
    group: 'Nodes',
    help: 'The number of pods that a node takes.',
  },
  {
    name: 'address',
    type: 'string',
    default: LOOPBACK,
    group: 'Nodes',
    help: 'The IP address of the nodes, at which API servers reach this process for logs, exec and metrics.',
  },
  {
    name: 'port',
    type: 'int',
    default: 10_250,
    min: 0,
    max: 65_535,
    group: 'Nodes',
    help: 'The port of logs, exec and metrics. 0 chooses a free one.',
  },
  ...SERVING_FLAGS.map((flag) => (flag.name === 'secure-port' ? { ...flag, default: 0 } : flag)),
  ...METRIC_FLAGS,
  ...LOG_FLAGS,
] as const;

type Values = FlagValues<typeof FLAGS>;

runProgram({
  name: PROGRAM,
  summary: SUMMARY,
  flags: FLAGS,
  check: (values) => ({
    problems: [
      ...(values.kubeconfig === '' ? ['--kubeconfig is required'] : []),
      ...(isIP(values.address) === 0 ? ['--address must be an IP address'] : []),
      ...(/^[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?$/u.test(values.nodeNamePrefix)
        ? []
        : ['--node-name-prefix must begin a name of a node: lower-case letters, digits, - and .']),
      ...(parseQuantity(values.nodeCpu) === undefined ? ['--node-cpu must be a quantity'] : []),
      ...(parseQuantity(values.nodeMemory) === undefined ? ['--node-memory must be a quantity'] : []),
      ...servingProblems(values),
      ...metricProblems(values),
    ],
  }),
  run,
});

async function run({ values, given, log, signal }: Started<Values>): Promise<number> {
  const build = readBuild();
  const metrics = createMetrics({ process: true, build, choice: metricChoice(values) });
  const server = loadKubeconfig({ path: values.kubeconfig }).client;
  const client = createClient({
    ...server,
    log,
    userAgent: PROGRAM,
    observe: metrics.observerOf(server.server),
    outage: { isReported: false },
  });
  const isPortGiven = given.has('secure-port');
  const { address, port } = values;
  let nodes: StandInNodes | undefined;
  const agent = await openAgentListener({
    bindAddress: address,
    port,
    hosts: [METRICS_HOST, 'localhost', address],
    sources: () =>
      nodes?.pods.hasSynced() === true && nodes.nodes.hasSynced()
        ? { pods: nodes.pods.store, nodes: nodes.nodes.store, hasNode: nodes.has.bind(nodes) }
        : undefined,
    log,
  });
  const listener = await openStatusListener(values, { client, metrics, log, isPortGiven });
  nodes = new StandInNodes({
    client,
    log,
    names: Array.from({ length: values.nodes }, (_, at) => `${values.nodeNamePrefix}-${String(at + 1)}`),
    shape: {
      address,
      agentPort: agent.port,
      cpu: values.nodeCpu,
      memory: values.nodeMemory,
      pods: values.nodePods,
      version: `v${formatApiLevel(apiLevel)}.0+orch-${build.version}`,
    },
    createQueue: (name) => metrics.queueOf(name),
  });
  log.info(
    { server: server.server, dialect, nodes: values.nodes },
    `starting ${PROGRAM}; the nodes run no containers`,
  );
  try {
    await waitForApiServer(client, log, signal).catch(rethrowUnless(signal));
    await Promise.all([nodes.run(signal), keepMetricsRegistered({ client, agent, address, log }, signal)]);
    await nodes.markStopped(AbortSignal.timeout(STOP_TIMEOUT_MS)).catch((error: unknown) => {
      log.warn({ error }, 'failed to mark the nodes as not ready');
    });
    log.info({}, 'stopped');
    return EXIT.ok;
  } finally {
    agent.close();
    listener?.close();
    client.close();
  }
}

function rethrowUnless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

/** Registers the group of metrics once the API server says how it shows itself; tried again until it succeeds. */
async function keepMetricsRegistered(
  {
    client,
    agent,
    address,
    log,
  }: { readonly client: Client; readonly agent: AgentListener; readonly address: string; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const proxy = await readFrontProxy(client, signal);
      if (proxy === undefined) {
        log.warn({}, 'no metrics: the API server has no --requestheader-client-ca-file');
        return;
      }
      agent.trust(proxy);
      const host = address === LOOPBACK ? 'localhost' : address;
      await registerMetrics(client, { host, port: agent.port, caPem: agent.caPem }, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, 'failed to register the metrics of the nodes; retrying');
      await pause(REGISTER_RETRY_MS, signal);
    }
  }
}
