import type { KindCases } from '../kind-cases';

const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

export const autoscalingCases: readonly KindCases[] = [
  {
    kind: 'HorizontalPodAutoscaler',
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
      ['a least below none', { spec: { minReplicas: -1 } }, ['Invalid spec.minReplicas']],
      [
        'a least of none, where no metric reports work without pods',
        { spec: { minReplicas: 0 } },
        ['Forbidden spec.metrics', 'Invalid spec.minReplicas'],
      ],
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
      [
        'a metric without source',
        { spec: { metrics: [{ type: 'Pods' }] } },
        ['Required spec.metrics[0].pods'],
      ],
      [
        'a metric of another source',
        {
          spec: {
            metrics: [
              {
                ...cpu,
                pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } },
              },
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
  },
];
