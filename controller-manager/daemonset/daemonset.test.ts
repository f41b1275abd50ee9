import { RESOURCE } from '../../shared/api/resource-names';
import type { DaemonSet, DaemonSetSpec } from '../../shared/api/types/apps-v1';
import type { Node, Pod, Taint } from '../../shared/api/types/core-v1';
import { TAINT } from '../../shared/names';
import { eventually } from '../../shared/testing/eventually';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { revisionData } from '../pods/revisions';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { planRollout } from './daemon-plan';
import { nodeOf, placementOn } from './daemon-pods';
import { runDaemonSets } from './daemonset';

const AGENT = { app: 'agent' };
const SETS = RESOURCE.daemonsets;
const PODS = RESOURCE.pods;
const setOf = (spec: Partial<DaemonSetSpec> = {}): { readonly spec: DaemonSetSpec } => ({
  spec: {
    selector: { matchLabels: AGENT },
    template: podTemplate(AGENT),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    ...spec,
  },
});
const image = (tag: string) => ({ spec: { template: podTemplate(AGENT, `agent:${tag}`) } });

test('a revision has its keys in order, because clients of upstream compare its bytes', () => {
  const text = JSON.stringify(revisionData({ metadata: { name: 'agent' }, ...setOf() }));
  expect(text).toMatch(/^\{"spec":\{"template":\{"\$patch":"replace","metadata":\{/u);
  expect(text.indexOf(`"image"`)).toBeLessThan(text.indexOf(`"name":"web"`));
});

describe('the controller', () => {
  let bench: WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    bench.run(runDaemonSets, 'daemon-set-controller');
    for (const name of ['n1', 'n2']) await makeNode(name);
  });
  afterEach(async () => bench.close());
  /** New nodes are tainted until another controller finds them ready. */
  const makeNode = async (name: string, taints: readonly Taint[] | null = null): Promise<void> => {
    await bench.make(RESOURCE.nodes, name, { metadata: { labels: { disk: name } } });
    await bench.change(RESOURCE.nodes, name, { spec: { taints } });
  };

  const isRolledOut = ({ metadata, status }: DaemonSet): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.updatedNumberScheduled === status?.desiredNumberScheduled &&
    status?.numberAvailable === status?.desiredNumberScheduled;
  /** Plays the nodes until the set is as wanted. */
  const settle = async (holds: (set: DaemonSet) => boolean): Promise<readonly Pod[]> => {
    await eventually('the set is as wanted', async () => {
      await bench.makeReady();
      return holds(await bench.read(SETS, 'agent'));
    });
    return bench.list(PODS);
  };
  const nodesOf = (pods: readonly Pod[]): readonly string[] => pods.map((pod) => nodeOf(pod) ?? '').sort();

  test('creates a pod for each node, follows labels and nodes, and counts', async () => {
    await bench.make(SETS, 'agent', setOf());
    const pods = await settle((set) => isRolledOut(set) && set.status?.desiredNumberScheduled === 2);
    expect(nodesOf(pods)).toEqual(['n1', 'n2']);
    const [revision] = await bench.list(RESOURCE.controllerrevisions);
    const hash = revision?.metadata.labels?.[WORKLOAD_LABEL.controllerRevision];
    expect(pods[0]).toMatchObject({
      metadata: {
        generateName: 'agent-',
        labels: { ...AGENT, [WORKLOAD_LABEL.controllerRevision]: hash },
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
      },
      spec: {
        tolerations: expect.arrayContaining([
          { key: TAINT.unschedulable, operator: 'Exists', effect: 'NoSchedule' },
        ]) as unknown,
      },
    });
    expect((await bench.read(SETS, 'agent')).status).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 2,
      desiredNumberScheduled: 2,
      numberAvailable: 2,
      numberMisscheduled: 0,
      numberReady: 2,
      updatedNumberScheduled: 2,
    });
    await makeNode('n3', [{ key: 'x', effect: 'NoExecute' }]);
    await makeNode('n4');
    expect(nodesOf(await settle(({ status }) => status?.numberAvailable === 3))).toEqual(['n1', 'n2', 'n4']);
    await bench.change(RESOURCE.nodes, 'n1', { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } });
    await bench.whenObject(SETS, 'agent', ({ status }) => status?.numberMisscheduled === 1);
    await bench.change(SETS, 'agent', {
      spec: { template: { spec: { nodeSelector: { disk: 'n2' } } } },
    });
    expect(nodesOf(await settle((set) => isRolledOut(set) && set.status?.numberMisscheduled === 0))).toEqual([
      'n2',
    ]);
    await bench.whenList(RESOURCE.events, 'events of pods', (events) =>
      events.some(({ reason }) => reason === 'SuccessfulDelete'),
    );
  });

  test('rolls out one node after the other, goes back to an old revision, and limits the history', async () => {
    await bench.make(SETS, 'agent', setOf({ revisionHistoryLimit: 1 }));
    await settle(isRolledOut);
    await bench.change(SETS, 'agent', image('2'));
    // No pod becomes ready, so that only one node is updated.
    await bench.whenObject(SETS, 'agent', ({ status }) => status?.updatedNumberScheduled === 1);
    expect((await bench.read(SETS, 'agent')).status).toMatchObject({
      numberAvailable: 1,
      numberUnavailable: 1,
    });
    const images = (pods: readonly Pod[]) => pods.map(({ spec }) => spec.containers?.[0]?.image);
    expect(images(await settle(isRolledOut))).toEqual(['agent:2', 'agent:2']);
    await bench.change(SETS, 'agent', { spec: { template: podTemplate(AGENT) } });
    expect(images(await settle(isRolledOut))).toEqual(['web:1', 'web:1']);
    const revisions = await bench.list(RESOURCE.controllerrevisions);
    expect(revisions.map(({ revision }) => Number(revision)).sort((a, b) => a - b)).toEqual([2, 3]);
    await bench.change(SETS, 'agent', { spec: { updateStrategy: { type: 'OnDelete' } } });
    await bench.change(SETS, 'agent', image('3'));
    await settle(({ metadata, status }) => status?.observedGeneration === metadata.generation);
    expect(images(await bench.list(PODS))).toEqual(['web:1', 'web:1']);
    await bench.remove(PODS, (await bench.list(PODS))[0]?.metadata.name ?? '');
    const mixed = await settle(
      ({ status }) => status?.updatedNumberScheduled === 1 && status.numberReady === 2,
    );
    expect(new Set(images(mixed))).toEqual(new Set(['agent:3', 'web:1']));
    await bench.whenList(
      RESOURCE.controllerrevisions,
      'one unused revision at most',
      (all) => all.length <= 3,
    );
  });

  test('replaces a failed pod and reports it', async () => {
    await bench.make(SETS, 'agent', setOf());
    const [pod] = await settle(isRolledOut);
    if (pod !== undefined) await bench.setPodStatus(pod, { phase: 'Failed', conditions: [] });
    await bench.whenList(
      PODS,
      'another pod',
      (pods) => pods.length === 2 && pods.every(({ metadata }) => metadata.uid !== pod?.metadata.uid),
    );
    await bench.whenList(RESOURCE.events, 'the event', (events) =>
      events.some(({ reason }) => reason === 'FailedDaemonPod'),
    );
    expect(await bench.eventsOf('DaemonSet')).toContain(
      `FailedDaemonPod: Found failed daemon pod default/${pod?.metadata.name ?? ''} on node ${nodeOf(pod as Pod) ?? ''}, will try to kill it`,
    );
  });
});

const nodeWith = (name: string, taints: readonly Taint[] = []): Node => ({
  metadata: { name, labels: { zone: name } },
  spec: { taints },
});

test.each<
  [
    name: string,
    taints: readonly Taint[],
    expected: { readonly shouldRun: boolean; readonly mayStay: boolean },
  ]
>([
  ['a', [], { shouldRun: true, mayStay: true }],
  ['b', [], { shouldRun: false, mayStay: false }],
  ['a', [{ key: 'x', effect: 'NoSchedule' }], { shouldRun: false, mayStay: true }],
  ['a', [{ key: 'x', effect: 'NoExecute' }], { shouldRun: false, mayStay: false }],
  ['a', [{ key: TAINT.notReady, effect: 'NoExecute' }], { shouldRun: true, mayStay: true }],
  ['a', [{ key: TAINT.networkUnavailable, effect: 'NoSchedule' }], { shouldRun: false, mayStay: true }],
])('the node %s with the taints %j: %j', (name, taints, expected) => {
  const template = podTemplate(AGENT);
  const spec = { ...template.spec, nodeSelector: { zone: 'a' } };
  const set = { metadata: {}, ...setOf({ template: { ...template, spec } }) };
  expect(placementOn(nodeWith(name, taints), set)).toEqual(expected);
});

/** One letter for each pod of a node: o and n are an old and a new one, in capitals available ones. */
const podOf = (letter: string, node: string): Pod => ({
  metadata: {
    name: `${node}${letter}`,
    labels: { [WORKLOAD_LABEL.controllerRevision]: letter.toLowerCase() === 'n' ? 'new' : 'old' },
  },
  spec: { containers: [], nodeName: node },
  status: {
    phase: 'Running',
    conditions:
      letter === letter.toUpperCase()
        ? [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }]
        : [],
  },
});

test.each([
  // Without surge, one unavailable pod is allowed.
  ['O O O', 0, 1, [], ['0O']],
  ['o O O', 0, 1, [], ['0o']],
  ['n O O', 0, 1, [], []],
  ['N O O', 0, 1, [], ['1O']],
  ['O O O', 0, '50%', [], ['0O', '1O']],
  ['- O O', 0, 1, [], []],
  ['oo O O', 0, 1, [], []],
  // With surge, as many new pods beside old ones.
  ['O O O', 1, 0, ['0'], []],
  ['O O O', '50%', 0, ['0', '1'], []],
  ['On O O', 1, 0, [], []],
  ['ON O O', 1, 0, ['1'], ['0O']],
  ['o O O', 1, 0, ['0', '1'], []],
])(
  'the nodes %s with surge %j and %j unavailable: new pods on %j, deleted %j',
  (text, maxSurge, maxUnavailable, create, remove) => {
    const nodes = text.split(' ').map((_, at) => ({ metadata: { name: String(at) }, spec: {} }));
    const byNode = new Map(
      text
        .split(' ')
        .flatMap((letters, at): [string, Pod[]][] =>
          letters === '-'
            ? []
            : [[String(at), Array.from(letters).map((letter) => podOf(letter, String(at)))]],
        ),
    );
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
    const plan = planRollout({
      set: { metadata: {}, ...setOf({ updateStrategy }) },
      nodes,
      byNode,
      hash: 'new',
      nowMs: 0,
    });
    expect({ create: plan.create, remove: plan.remove.map(({ metadata }) => metadata.name) }).toEqual({
      create,
      remove,
    });
  },
);
