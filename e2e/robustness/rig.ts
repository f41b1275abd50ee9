import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';
import { makeWorkspace } from '../support/workspace';
import { ApiClient } from '../support/client';
import type { HaSet, HaSetOptions, ProcessSettings } from '../support/ha-set';
import { startHaSet } from '../support/ha-set';
import type { Links } from '../support/links';
import { startLinks } from '../support/links';
import type { Clock } from './faults/perform';
import { ALLOCATION_FLAGS } from './load/allocations';

/** A set of processes with links between all of them, and the means to inject faults into each. */
export interface Rig {
  readonly set: HaSet;
  readonly links: Links;
  readonly clocks: readonly Clock[];
  /** One client for each replica, over a separate link. */
  readonly clients: readonly ApiClient[];
  /** The same over HTTP/2. */
  readonly http2Clients: readonly ApiClient[];
  /** One client for each replica and, last, for the balancer, over separate links. */
  readonly kubeconfigs: readonly { readonly name: string; readonly kubeconfig: string }[];
  /** The process settings of a candidate. */
  readonly candidateProcessOf: (name: string) => ProcessSettings;
  readonly dir: string;
  stop(): Promise<void>;
}

export interface RigOptions extends Pick<
  HaSetOptions,
  'replicas' | 'etcd' | 'balancer' | 'controllerManagers'
> {
  /** Flags and variables of one process in addition to those of its clock. */
  readonly processOf?: (name: string) => ProcessSettings;
}

const CLOCK_PRELOAD = path.join(repositoryRoot, 'dist', 'e2e', 'robustness', 'clock-preload.js');
const CHECK_INTERVAL = '--cache-check-interval=10s';

/** The load writes Deployments and pods itself, and the checkers expect no other writer of them. */
const WITHOUT_WORKLOADS = '*,-deployment,-replicaset,-replicationcontroller,-job,-endpoint,-endpointslice';

export async function startRig(options: RigOptions): Promise<Rig> {
  const workspace = makeWorkspace('robustness');
  const links = startLinks();
  const clockDir = path.join(workspace.dir, 'clocks');
  mkdirSync(clockDir);
  const clockFile = (name: string): string => path.join(clockDir, name);
  const processOf = (name: string): ProcessSettings => {
    const more = options.processOf?.(name) ?? { nodeFlags: [], env: {} };
    return {
      ...more,
      nodeFlags: ['--require', CLOCK_PRELOAD, ...more.nodeFlags],
      env: { ORCH_ROBUSTNESS_CLOCK_FILE: clockFile(name), ...more.env },
    };
  };
  try {
    const set = await startHaSet({
      ...options,
      dialect: 'kubernetes',
      extraArgs: [CHECK_INTERVAL, ...ALLOCATION_FLAGS],
      controllers: WITHOUT_WORKLOADS,
      processOf,
      links,
    });
    return await linked(set, {
      links,
      dir: workspace.dir,
      candidateProcessOf: processOf,
      clockFile,
      remove: () => {
        workspace.remove();
      },
    });
  } catch (error) {
    links.stop();
    workspace.remove();
    throw error;
  }
}

interface Parts {
  readonly links: Links;
  readonly dir: string;
  readonly candidateProcessOf: (name: string) => ProcessSettings;
  readonly clockFile: (name: string) => string;
  readonly remove: () => void;
}

async function linked(
  set: HaSet,
  { links, dir, candidateProcessOf, clockFile, remove }: Parts,
): Promise<Rig> {
  const clients: ApiClient[] = [];
  const http2Clients: ApiClient[] = [];
  const kubeconfigs: { readonly name: string; readonly kubeconfig: string }[] = [];
  const targets = [
    ...set.replicas.map(({ name, server, kubeconfig }) => ({ name, server, kubeconfig })),
    { name: 'balancer', server: set.server, kubeconfig: set.kubeconfig },
  ];
  for (const { name, server, kubeconfig } of targets) {
    const linkedFile = path.join(dir, `${name}.linked.kubeconfig`);
    const url = await links.through('informers', name, server);
    const text = readFileSync(kubeconfig, 'utf8');
    writeFileSync(linkedFile, text.replaceAll(server, url), { mode: 0o600 });
    kubeconfigs.push({ name, kubeconfig: linkedFile });
  }
  for (const { name, server, kubeconfig, caFile } of set.replicas) {
    const [, token = ''] = /token: (\S+)/u.exec(readFileSync(kubeconfig, 'utf8')) ?? [];
    const target = { server: await links.through('clients', name, server), caFile, token };
    clients.push(new ApiClient(target));
    http2Clients.push(new ApiClient({ ...target, http: '2' }));
  }
  const clocks = [
    ...set.replicas.map((replica) => ({ name: replica.name, running: () => replica.process() })),
    ...set.controllerManagers.map((program, index) => ({
      name: `controller-manager-${String(index)}`,
      running: () => program.process(),
    })),
  ].map(({ name, running }): Clock => ({
    file: clockFile(name),
    tell: () => {
      running().signal('SIGUSR2');
    },
  }));
  return {
    set,
    links,
    clocks,
    clients,
    http2Clients,
    kubeconfigs,
    candidateProcessOf,
    dir,
    async stop() {
      for (const client of [...clients, ...http2Clients]) client.close();
      await set.stop();
      links.stop();
      remove();
    },
  };
}
