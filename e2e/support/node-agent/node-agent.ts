import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, Body } from '../client';
import type { Image } from '../machine-images';
import type { PodTemplate } from '../pods';
import { ownerSpecOf, podTemplateOf } from '../pods';
import type { RunningPod } from './pod-runner';
import { runPod } from './pod-runner';
import { startServiceProxy } from './service-proxy';

export interface NodeAgentOptions {
  readonly host: ApiClient;
  readonly hostCaFile: string;
  readonly namespace: string;
  readonly dir: string;
  readonly imageOf: (name: string) => Image;
  /** The beginning of the loopback addresses of pods and Services, e.g. `127.77`. */
  readonly network: string;
}

/**
 * Does for one namespace what the controllers, the scheduler, the node agents, the proxy and the DNS of a cluster do, as far as the chart needs it: runs
 * the pods of Deployments, StatefulSets, CronJobs, Jobs and bare Pods as processes, rolls them, and leads Services to those that are ready.
 */
export interface NodeAgent {
  pods(): readonly RunningPod[];
  /** The pods whose name begins with this. */
  podsOf(prefix: string): readonly RunningPod[];
  /** The address of a Service. */
  addressOf(service: string): string;
  /** Names of pods that were killed after their grace period. */
  readonly overdue: readonly string[];
  /** Kills all pods and stops. */
  stop(): Promise<void>;
}

export function startNodeAgent(options: NodeAgentOptions): NodeAgent {
  const agent = new Agent(options);
  agent.begin();
  return agent;
}

const POLL_MS = 100;
const EVERY_MINUTE = '* * * * *';
const MINUTE_MS = 60_000;
const NO_STRATEGY = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };

interface OwnedPod {
  readonly owner: string;
  readonly hash: string;
  readonly pod: RunningPod;
  isLeaving: boolean;
}

class Agent implements NodeAgent {
  readonly overdue: string[] = [];
  readonly #options: NodeAgentOptions;
  readonly #hostsFile: string;
  readonly #pods = new Map<string, OwnedPod>();
  readonly #addresses = new Map<string, string>();
  readonly #proxies = new Map<string, { close(): void }>();
  readonly #claims: string;
  #hosts = '';
  #serial = 0;
  #isStopped = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    this.#hostsFile = path.join(options.dir, 'hosts');
    this.#claims = path.join(options.dir, 'claims');
    mkdirSync(this.#claims, { recursive: true });
    writeFileSync(this.#hostsFile, '127.0.0.1 localhost\n');
  }

  begin(): void {
    this.#loop = this.#work();
    // stop() aborts the signal.
    this.#loop.catch(() => undefined);
  }

  pods(): readonly RunningPod[] {
    return [...this.#pods.values()].filter((each) => !each.isLeaving).map(({ pod }) => pod);
  }

  podsOf(prefix: string): readonly RunningPod[] {
    return this.pods().filter(({ name }) => name.startsWith(prefix));
  }

  addressOf(service: string): string {
    return this.#address(`service/${service}`);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { pod } of this.#pods.values()) {
      void pod.stop();
      pod.kill('SIGKILL');
    }
    for (const proxy of this.#proxies.values()) proxy.close();
    await this.#loop;
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      await this.#pass();
      await delay(POLL_MS);
    }
  }

  async #pass(): Promise<void> {
    const owners = new Set<string>();
    for (const each of await this.#list('/apis/apps/v1', 'statefulsets')) {
      owners.add(ownerOf('StatefulSet', each));
      await this.#statefulSet(each);
    }
    for (const each of await this.#list('/apis/apps/v1', 'deployments')) {
      owners.add(ownerOf('Deployment', each));
      await this.#deployment(each);
    }
    for (const each of await this.#list('/api/v1', 'persistentvolumeclaims'))
      await this.#report('/api/v1', 'persistentvolumeclaims', each, { phase: 'Bound' });
    for (const each of await this.#list('/apis/batch/v1', 'cronjobs')) await this.#cronJob(each);
    for (const each of await this.#list('/apis/batch/v1', 'jobs')) {
      owners.add(ownerOf('Job', each));
      await this.#once('Job', each);
    }
    for (const each of await this.#list('/api/v1', 'pods')) {
      owners.add(ownerOf('Pod', each));
      await this.#once('Pod', each);
    }
    for (const each of this.#pods.values()) if (!owners.has(each.owner)) this.#leave(each);
    await this.#services();
  }

  async #list(base: string, resource: string): Promise<readonly Body[]> {
    const { namespace, host } = this.#options;
    const { status, body } = await host.get(`${base}/namespaces/${namespace}/${resource}`);
    if (status !== 200) throw new Error(`listing ${resource} answered ${String(status)}`);
    // Objects of a list have no kind.
    const kind = String(body.kind).replace(/List$/u, '');
    return (body.items ?? []).map((each) => ({ ...each, kind }));
  }

  /** Replaces one member at a time, the last one first, and only while the others are ready. */
  async #statefulSet(set: Body): Promise<void> {
    const owner = ownerOf('StatefulSet', set);
    const replicas = ownerSpecOf(set.spec).replicas ?? 1;
    const names = Array.from(
      { length: replicas },
      (_, index) => `${String(set.metadata?.name)}-${String(index)}`,
    );
    const template = podTemplateOf(set);
    if (template === undefined) return;
    const hash = hashOf(template);
    for (const name of names) if (!this.#pods.has(name)) this.#startPod(owner, name, template);
    const own = this.#owned(owner);
    for (const each of own) if (!names.includes(each.pod.name)) this.#leave(each);
    const isQuiet = own.length === replicas && own.every(({ pod, isLeaving }) => pod.isReady() && !isLeaving);
    const old = own.toReversed().find((each) => each.hash !== hash);
    if (isQuiet && old !== undefined) this.#leave(old);
    const ready = own.filter(({ pod }) => pod.isReady()).length;
    const updated = own.filter((each) => each.hash === hash).length;
    await this.#report('/apis/apps/v1', 'statefulsets', set, {
      observedGeneration: set.metadata?.generation,
      replicas: own.length,
      readyReplicas: ready,
      currentReplicas: updated,
      updatedReplicas: updated,
      currentRevision: hash,
      updateRevision: hash,
    });
  }

  /** Rolls within `maxSurge` and `maxUnavailable` of the Deployment. */
  async #deployment(deployment: Body): Promise<void> {
    const owner = ownerOf('Deployment', deployment);
    const template = podTemplateOf(deployment);
    if (template === undefined) return;
    const { replicas = 1, strategy = NO_STRATEGY } = ownerSpecOf(deployment.spec);
    const { rollingUpdate } = strategy;
    const hash = hashOf(template);
    const own = this.#owned(owner).filter((each) => !each.isLeaving);
    const fresh = own.filter((each) => each.hash === hash);
    const old = own.filter((each) => each.hash !== hash);
    const ready = own.filter(({ pod }) => pod.isReady());
    if (fresh.length < replicas && own.length < replicas + rollingUpdate.maxSurge)
      this.#startPod(
        owner,
        `${String(deployment.metadata?.name)}-${hash}-${String(this.#serial++)}`,
        template,
      );
    const spare = ready.length - (replicas - rollingUpdate.maxUnavailable);
    const leaving = old.find(({ pod }) => !pod.isReady()) ?? (spare > 0 ? old[0] : undefined);
    const surplus = old.length === 0 && fresh.length > replicas ? fresh.at(-1) : undefined;
    for (const each of [leaving, surplus]) if (each !== undefined) this.#leave(each);
    const status = {
      observedGeneration: deployment.metadata?.generation,
      replicas: own.length,
      updatedReplicas: fresh.length,
      readyReplicas: ready.length,
      availableReplicas: ready.length,
      unavailableReplicas: Math.max(0, replicas - ready.length),
    };
    await this.#report('/apis/apps/v1', 'deployments', deployment, status);
    const freshReady = fresh.filter(({ pod }) => pod.isReady()).length;
    await this.#replicaSet(deployment, template, { replicas, freshReady });
  }

  /** Helm waits for the newest ReplicaSet of a Deployment. */
  async #replicaSet(
    deployment: Body,
    template: PodTemplate,
    counts: { replicas: number; freshReady: number },
  ): Promise<void> {
    const { host, namespace } = this.#options;
    const name = `${String(deployment.metadata?.name)}-${hashOf(template)}`;
    const base = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
    const { status, body } = await host.get(`${base}/${name}`);
    if (status === 404) {
      const owner = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: deployment.metadata?.name,
        uid: deployment.metadata?.uid,
        controller: true,
      };
      await host.create(base, {
        metadata: { name, labels: template.metadata?.labels, ownerReferences: [owner] },
        spec: { replicas: counts.replicas, selector: ownerSpecOf(deployment.spec).selector, template },
      });
      return;
    }
    await this.#report('/apis/apps/v1', 'replicasets', body, {
      observedGeneration: body.metadata?.generation,
      replicas: counts.freshReady,
      readyReplicas: counts.freshReady,
      availableReplicas: counts.freshReady,
    });
  }

  /** Creates the Job of a CronJob of each minute; other schedules never come. */
  async #cronJob({ metadata, spec }: Body): Promise<void> {
    const { schedule, jobTemplate } = ownerSpecOf(spec);
    if (schedule !== EVERY_MINUTE || jobTemplate === undefined) return;
    const { host, namespace } = this.#options;
    const name = `${String(metadata?.name)}-${String(Math.floor(Date.now() / MINUTE_MS))}`;
    const labels = jobTemplate.metadata?.labels;
    const job = { metadata: { name, labels }, spec: jobTemplate.spec };
    const { status, text } = await host.create(`/apis/batch/v1/namespaces/${namespace}/jobs`, job);
    if (status !== 201 && status !== 409) throw new Error(`creating the Job ${name} answered ${text}`);
  }

  /** Runs a Job, or a Pod of a test hook, to completion. */
  async #once(kind: 'Job' | 'Pod', object: Body): Promise<void> {
    const owner = ownerOf(kind, object);
    const template = podTemplateOf(object);
    if (template === undefined) return;
    const [own] = this.#owned(owner);
    if (own === undefined) {
      this.#startPod(owner, String(object.metadata?.name), template);
      return;
    }
    const code = own.pod.exitCode();
    if (code === undefined) return;
    const at = new Date().toISOString().replace(/\.\d+Z$/u, 'Z');
    const status =
      kind === 'Pod'
        ? { phase: code === 0 ? 'Succeeded' : 'Failed' }
        : {
            ...(code === 0 ? { succeeded: 1, completionTime: at } : { failed: 1 }),
            startTime: at,
            conditions: [
              {
                type: code === 0 ? 'Complete' : 'Failed',
                status: 'True',
                lastTransitionTime: at,
                lastProbeTime: at,
              },
            ],
          };
    const before = object.status as
      { readonly phase?: string; readonly conditions?: readonly unknown[] } | undefined;
    if (before?.conditions === undefined && before?.phase !== 'Succeeded' && before?.phase !== 'Failed')
      await this.#report(
        kind === 'Pod' ? '/api/v1' : '/apis/batch/v1',
        kind === 'Pod' ? 'pods' : 'jobs',
        object,
        status,
      );
  }

  async #report(
    base: string,
    resource: string,
    object: Body,
    status: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const before = (object.status ?? {}) as Readonly<Record<string, unknown>>;
    const isSame = Object.entries(status).every(
      ([key, value]) => JSON.stringify(before[key] ?? 0) === JSON.stringify(value ?? 0),
    );
    if (isSame) return;
    const { host, namespace } = this.#options;
    const place = `${base}/namespaces/${namespace}/${resource}/${String(object.metadata?.name)}/status`;
    const answer = await host.mergePatch(place, { status });
    if (answer.status !== 200 && answer.status !== 404) throw new Error(`${place} answered ${answer.text}`);
  }

  #owned(owner: string): readonly OwnedPod[] {
    return [...this.#pods.values()].filter((each) => each.owner === owner);
  }

  #startPod(owner: string, name: string, template: PodTemplate): void {
    const { dir, namespace, host, hostCaFile, imageOf } = this.#options;
    const pod = runPod({
      name,
      namespace,
      labels: template.metadata?.labels ?? {},
      spec: template.spec,
      ip: this.#address(`pod/${name}`),
      image: imageOf(template.spec.containers[0]?.image ?? ''),
      dir: path.join(dir, 'pods', `${name}-${String(this.#serial++)}`),
      claims: this.#claims,
      hostsFile: this.#hostsFile,
      host,
      hostCaFile,
    });
    this.#pods.set(name, { owner, hash: hashOf(template), pod, isLeaving: false });
  }

  #leave(each: OwnedPod): void {
    if (each.isLeaving) return;
    each.isLeaving = true;
    void each.pod.stop().then((isDone) => {
      if (!isDone) this.overdue.push(each.pod.name);
      this.#pods.delete(each.pod.name);
    });
  }

  #address(name: string): string {
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    const number = this.#addresses.size + 1;
    const address = `${this.#options.network}.${String(Math.floor(number / 250))}.${String((number % 250) + 1)}`;
    this.#addresses.set(name, address);
    return address;
  }

  /** Updates the hosts file, and the proxy of each Service with an address. */
  async #services(): Promise<void> {
    const { namespace } = this.#options;
    const lines = ['127.0.0.1 localhost'];
    for (const service of await this.#list('/api/v1', 'services')) {
      const name = String(service.metadata?.name);
      const { clusterIP, ports = [], ...rest } = ownerSpecOf(service.spec);
      const selector = rest.selector as Readonly<Record<string, string>>;
      const behind = (): readonly RunningPod[] =>
        this.pods().filter(({ labels }) =>
          Object.entries(selector).every(([key, value]) => labels[key] === value),
        );
      if (clusterIP === 'None') {
        for (const pod of behind()) lines.push(`${pod.ip} ${pod.name}.${name}.${namespace}.svc`);
        continue;
      }
      const ip = this.addressOf(name);
      lines.push(`${ip} ${name}.${namespace}.svc`);
      for (const { port, targetPort } of ports) {
        const key = `${name}:${String(port)}`;
        if (this.#proxies.has(key)) continue;
        this.#proxies.set(
          key,
          await startServiceProxy({ ip, port }, () =>
            behind()
              .filter((pod) => pod.isReady())
              .map((pod) => ({ ip: pod.ip, port: pod.portOf(targetPort) ?? 0 })),
          ),
        );
      }
    }
    const hosts = `${lines.join('\n')}\n`;
    // Written in place, because pods mount this file.
    if (hosts !== this.#hosts) writeFileSync(this.#hostsFile, hosts);
    this.#hosts = hosts;
  }
}

function ownerOf(kind: string, { metadata }: Body): string {
  return `${kind}/${String(metadata?.uid)}`;
}

function hashOf(template: PodTemplate): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);
}
