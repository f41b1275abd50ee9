import type { ApiObject } from '../../shared/object/object';
import type { ContainerStatus, Node, Pod } from '../../shared/api/types/core-v1';
import type { Store } from '../../shared/informer/store';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels, parseLabelSelector } from '../../shared/meta/labels';
import { SelectorError } from '../../shared/meta/selector-error';
import { addQuantity, formatQuantity, parseQuantity, ZERO_QUANTITY } from '../../shared/meta/quantity';
import { formatTime } from '../../shared/meta/time';
import { METRICS_GROUP } from '../../shared/names';
import { usageOf } from './pod-rules';

/** An answer of the group of metrics. */
export interface MetricsAnswer {
  readonly code: number;
  readonly body: object;
}

export interface MetricsSources {
  readonly nodes: Pick<Store<Node>, 'get' | 'list'>;
  readonly pods: Pick<Store<Pod>, 'get' | 'list'>;
  readonly hasNode: (nodeName: string) => boolean;
}

const VERSION = 'v1beta1';
const GROUP_VERSION = `${METRICS_GROUP}/${VERSION}`;
const WINDOW = '10s';
const GROUP_VERSIONS = [{ groupVersion: GROUP_VERSION, version: VERSION }];
const API_GROUP = { name: METRICS_GROUP, versions: GROUP_VERSIONS, preferredVersion: GROUP_VERSIONS[0] };

/** Answers a GET below `/apis` from the usage that the annotations of pods name; undefined for an unknown path. `url` has a path and a query. */
export function answerMetrics(url: URL, sources: MetricsSources, nowMs: number): MetricsAnswer | undefined {
  const { pathname } = url;
  if (pathname === '/apis') return ok({ kind: 'APIGroupList', apiVersion: 'v1', groups: [API_GROUP] });
  const root = `/apis/${METRICS_GROUP}`;
  if (pathname === root) return ok({ kind: 'APIGroup', apiVersion: 'v1', ...API_GROUP });
  if (pathname === `${root}/${VERSION}`) return ok(resourceList());
  if (!pathname.startsWith(`${root}/${VERSION}/`)) return undefined;
  const words = pathname.slice(root.length + VERSION.length + 2).split('/');
  try {
    const selector = parseLabelSelector(url.searchParams.get('labelSelector') ?? '');
    return answerResource(words, new Answers(sources, selector, formatTime(nowMs)));
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return failure(400, 'BadRequest', error.message);
  }
}

function answerResource(words: readonly string[], answers: Answers): MetricsAnswer | undefined {
  const [first, namespace = '', second, name = ''] = words;
  if (first === 'nodes' && words.length === 1) return answers.nodes();
  if (first === 'nodes' && words.length === 2) return answers.node(namespace);
  if (first === 'pods' && words.length === 1) return answers.pods(undefined);
  if (first !== 'namespaces' || second !== 'pods') return undefined;
  if (words.length === 3) return answers.pods(namespace);
  return words.length === 4 ? answers.pod(`${namespace}/${name}`) : undefined;
}

class Answers {
  readonly #sources: MetricsSources;
  readonly #selector: LabelSelector;
  readonly #timestamp: string;

  constructor(sources: MetricsSources, selector: LabelSelector, timestamp: string) {
    this.#sources = sources;
    this.#selector = selector;
    this.#timestamp = timestamp;
  }

  nodes(): MetricsAnswer {
    const nodes = this.#sources.nodes
      .list()
      .filter(
        ({ metadata }) => this.#sources.hasNode(metadata.name ?? '') && this.#isSelected(metadata.labels),
      );
    const usages = this.#usagesOfNodes();
    return ok(
      listOf(
        'NodeMetricsList',
        inOrder(nodes).map((node) => this.#ofNode(node, usages)),
      ),
    );
  }

  node(name: string): MetricsAnswer {
    const node = this.#sources.hasNode(name) ? this.#sources.nodes.get(name) : undefined;
    return node === undefined ? notFound('nodemetrics', name) : ok(this.#ofNode(node, this.#usagesOfNodes()));
  }

  pods(namespace: string | undefined): MetricsAnswer {
    const pods = this.#running().filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) && this.#isSelected(metadata.labels),
    );
    return ok(
      listOf(
        'PodMetricsList',
        inOrder(pods).map((pod) => this.#ofPod(pod)),
      ),
    );
  }

  pod(key: string): MetricsAnswer {
    const pod = this.#sources.pods.get(key);
    return pod === undefined || !this.#isRunning(pod) ? notFound('podmetrics', key) : ok(this.#ofPod(pod));
  }

  #ofNode({ metadata }: Node, usages: ReadonlyMap<string, Usage>): object {
    const { name = '', labels } = metadata;
    return this.#metrics('NodeMetrics', { name, labels }, { usage: usages.get(name) ?? NO_USAGE });
  }

  #ofPod(pod: Pod): object {
    const { name, namespace, labels } = pod.metadata;
    const usage = usageOf(pod);
    const containers = runningContainers(pod).map(({ name: container }) => ({ name: container, usage }));
    return this.#metrics('PodMetrics', { name, namespace, labels }, { containers });
  }

  #metrics(kind: string, metadata: object, rest: object): object {
    const timestamp = this.#timestamp;
    return {
      kind,
      apiVersion: GROUP_VERSION,
      metadata: { ...metadata, creationTimestamp: timestamp },
      timestamp,
      window: WINDOW,
      ...rest,
    };
  }

  /** By name of the node: the sum of its running containers. */
  #usagesOfNodes(): ReadonlyMap<string, Usage> {
    const sums = new Map<string, Usage>();
    for (const pod of this.#running()) {
      const { nodeName = '' } = pod.spec;
      const usage = usageOf(pod);
      for (const _ of runningContainers(pod)) {
        const { cpu, memory } = sums.get(nodeName) ?? NO_USAGE;
        sums.set(nodeName, { cpu: sum(cpu, usage.cpu), memory: sum(memory, usage.memory) });
      }
    }
    return sums;
  }

  #running(): readonly Pod[] {
    return this.#sources.pods.list().filter((pod) => this.#isRunning(pod));
  }

  #isRunning({ spec, status }: Pod): boolean {
    return status?.phase === 'Running' && this.#sources.hasNode(spec.nodeName ?? '');
  }

  #isSelected(labels: Readonly<Record<string, string>> | undefined): boolean {
    return matchesLabels(this.#selector, labels);
  }
}

interface Usage {
  readonly cpu: string;
  readonly memory: string;
}

const NO_USAGE: Usage = { cpu: '0', memory: '0' };

/** Returns the containers that use something. */
function runningContainers({ status }: Pod): readonly ContainerStatus[] {
  return (status?.containerStatuses ?? []).filter(({ state }) => state.running !== undefined);
}

function sum(a: string, b: string): string {
  return formatQuantity(addQuantity(parseQuantity(a) ?? ZERO_QUANTITY, parseQuantity(b) ?? ZERO_QUANTITY));
}

function resourceList(): object {
  const verbs = ['get', 'list'];
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: GROUP_VERSION,
    resources: [
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs },
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs },
    ],
  };
}

/** Lists are ordered by namespace and name, as the API server orders objects. */
function inOrder<T extends ApiObject>(objects: readonly T[]): readonly T[] {
  const keyOf = ({ metadata: { namespace = '', name = '' } }: T): string => `${namespace}/${name}`;
  return objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function listOf(kind: string, items: readonly object[]): object {
  return { kind, apiVersion: GROUP_VERSION, metadata: {}, items };
}

function ok(body: object): MetricsAnswer {
  return { code: 200, body };
}

function notFound(kind: string, name: string): MetricsAnswer {
  return failure(404, 'NotFound', `${kind}.${METRICS_GROUP} ${JSON.stringify(name)} not found`);
}

function failure(code: number, reason: string, message: string): MetricsAnswer {
  return {
    code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
  };
}
