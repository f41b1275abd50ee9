import { GROUP } from '../../../shared/names';
import { testKind } from '../testing/kind-table';

const selector = { matchLabels: { app: 'web' } };

testKind('PodDisruptionBudget', {
  url: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  good: { spec: { minAvailable: '50%', selector } },
  bad: [
    ['two amounts', { spec: { maxUnavailable: 1 } }, ['Invalid spec']],
    ['fewer than none', { spec: { minAvailable: -1 } }, ['Invalid spec.minAvailable']],
    ['more than all', { spec: { minAvailable: '101%' } }, ['Invalid spec.minAvailable']],
    ['half a share', { spec: { minAvailable: '0.5' } }, ['Invalid spec.minAvailable']],
    [
      'a bad selector',
      { spec: { selector: { matchLabels: { 'a b': 'c' } } } },
      ['Invalid spec.selector.matchLabels'],
    ],
  ],
  goodChanges: [['another amount', { spec: { minAvailable: 2 } }]],
});

const POLICY = {
  seLinux: { rule: 'RunAsAny' },
  runAsUser: { rule: 'RunAsAny' },
  supplementalGroups: { rule: 'RunAsAny' },
  fsGroup: { rule: 'RunAsAny' },
  volumes: ['*'],
};

testKind('PodSecurityPolicy', {
  url: '/apis/policy/v1beta1/podsecuritypolicies',
  good: { spec: POLICY },
  bad: [
    ['an unknown user rule', { spec: { runAsUser: { rule: 'Odd' } } }, ['NotSupported spec.runAsUser.rule']],
    [
      'a range backwards',
      { spec: { fsGroup: { rule: 'MustRunAs', ranges: [{ min: 2, max: 1 }] } } },
      ['Invalid spec.fsGroup.ranges[0].min'],
    ],
    [
      'groups of no range',
      { spec: { runAsGroup: { rule: 'MustRunAs' } } },
      ['Invalid spec.runAsGroup.ranges'],
    ],
    ['an unknown volume', { spec: { volumes: ['odd'] } }, ['NotSupported spec.volumes']],
    [
      'everything allowed and something dropped',
      { spec: { allowedCapabilities: ['*'], requiredDropCapabilities: ['KILL'] } },
      ['Invalid requiredDropCapabilities'],
    ],
    ['an empty host path', { spec: { allowedHostPaths: [{}] } }, ['Required spec.allowedHostPaths[0]']],
    ['a bad sysctl', { spec: { forbiddenSysctls: ['a b'] } }, ['Invalid spec.forbiddenSysctls[0]']],
  ],
});

const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

testKind('HorizontalPodAutoscaler', {
  url: '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers',
  good: {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 5,
      metrics: [cpu],
    },
  },
  bad: [
    ['no most', { spec: { maxReplicas: 0 } }, ['Invalid spec.maxReplicas']],
    ['a least of none', { spec: { minReplicas: 0 } }, ['Invalid spec.minReplicas']],
    ['a least above the most', { spec: { minReplicas: 9 } }, ['Invalid spec.maxReplicas']],
    [
      'no target',
      { spec: { scaleTargetRef: { kind: '', name: '' } } },
      ['Required spec.scaleTargetRef.kind', 'Required spec.scaleTargetRef.name'],
    ],
    [
      'a metric of no type',
      { spec: { metrics: [{}] } },
      ['NotSupported spec.metrics[0].type', 'Required spec.metrics[0].type'],
    ],
    ['a metric without source', { spec: { metrics: [{ type: 'Pods' }] } }, ['Required spec.metrics[0].pods']],
    [
      'a metric of another source',
      {
        spec: {
          metrics: [
            { ...cpu, pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
          ],
        },
      },
      ['Forbidden spec.metrics[0].pods'],
    ],
    [
      'no use of a processor',
      {
        spec: {
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } },
            },
          ],
        },
      },
      ['Invalid spec.metrics[0].resource.target.averageUtilization'],
    ],
    [
      'no policy',
      { spec: { behavior: { scaleUp: { policies: [{ type: 'Odd', value: 0, periodSeconds: 1801 }] } } } },
      [
        'Invalid spec.behavior.scaleUp.policies[0].periodSeconds',
        'Invalid spec.behavior.scaleUp.policies[0].value',
        'NotSupported spec.behavior.scaleUp.policies[0].type',
      ],
    ],
  ],
});

testKind('Lease', {
  url: `/apis/${GROUP.coordination}/v1/namespaces/default/leases`,
  good: { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
  bad: [
    ['no time', { spec: { leaseDurationSeconds: 0 } }, ['Invalid spec.leaseDurationSeconds']],
    ['fewer than no changes', { spec: { leaseTransitions: -1 } }, ['Invalid spec.leaseTransitions']],
  ],
});

testKind('PriorityClass', {
  url: `/apis/${GROUP.scheduling}/v1/priorityclasses`,
  good: { value: 1000 },
  bad: [
    ['a value of the system', { value: 1_000_000_001 }, ['Forbidden value']],
    ['a name of the system', { metadata: { name: 'system-mine' } }, ['Forbidden metadata.name']],
    ['an unknown preemption', { preemptionPolicy: 'Odd' }, ['NotSupported preemptionPolicy']],
  ],
  badChanges: [
    ['another value', { value: 5 }, ['Forbidden Value']],
    ['another preemption', { preemptionPolicy: 'Never' }, ['Invalid preemptionPolicy']],
  ],
  goodChanges: [['another description', { description: 'x' }]],
});

testKind('RuntimeClass', {
  url: `/apis/${GROUP.node}/v1/runtimeclasses`,
  good: { handler: 'runc', overhead: { podFixed: { cpu: '10m' } } },
  bad: [
    ['no handler', { handler: '' }, ['Invalid handler']],
    ['a negative overhead', { overhead: { podFixed: { cpu: '-1' } } }, ['Invalid overhead.limits[cpu]']],
  ],
  badChanges: [['another handler', { handler: 'other' }, ['Invalid handler']]],
});

const event = {
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  eventTime: '2021-01-02T03:04:05.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Act',
  reason: 'Because',
  type: 'Normal',
  note: 'hello',
};

testKind('Event of events v1', {
  url: `/apis/${GROUP.events}/v1/namespaces/default/events`,
  good: event,
  bad: [
    ['no time', { eventTime: null }, ['Required eventTime']],
    ['no instance', { reportingInstance: '' }, ['Required reportingInstance']],
    ['no action', { action: '' }, ['Required action']],
    ['a reason that is too long', { reason: 'r'.repeat(129) }, ['Invalid reason']],
    ['a note that is too long', { note: 'n'.repeat(1025) }, ['Invalid message']],
    ['an unknown type', { type: 'Odd' }, ['Invalid type']],
    [
      'a series of one',
      { series: { count: 1, lastObservedTime: event.eventTime } },
      ['Invalid series.count'],
    ],
    ['a count of old', { deprecatedCount: 3 }, ['Invalid count']],
    ['a source of old', { deprecatedSource: { component: 'c' } }, ['Invalid source']],
  ],
});

testKind('Event of core', {
  url: '/api/v1/namespaces/default/events',
  good: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, type: 'Odd', count: 3 },
  bad: [
    [
      'an object of another namespace',
      { involvedObject: { namespace: 'other' } },
      ['Invalid involvedObject.namespace'],
    ],
  ],
});
