import { ANNOTATION } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const selector = { matchLabels: { app: 'web' } };

const POLICY = {
  seLinux: { rule: 'RunAsAny' },
  runAsUser: { rule: 'RunAsAny' },
  supplementalGroups: { rule: 'RunAsAny' },
  fsGroup: { rule: 'RunAsAny' },
  volumes: ['*'],
};

export const policyCases: readonly KindCases[] = [
  {
    kind: 'PodDisruptionBudget',
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
  },
  {
    kind: 'PodSecurityPolicy',
    url: '/apis/policy/v1beta1/podsecuritypolicies',
    good: { spec: { ...POLICY, volumes: ['cephFS', 'ephemeral', '*'] } },
    bad: [
      [
        'an unknown user rule',
        { spec: { runAsUser: { rule: 'Odd' } } },
        ['NotSupported spec.runAsUser.rule'],
      ],
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
      [
        'a sysctl that is allowed and forbidden',
        { spec: { allowedUnsafeSysctls: ['a.*'], forbiddenSysctls: ['a.b'] } },
        ['Invalid spec.forbiddenSysctls[0]'],
      ],
      [
        'a sysctl that is allowed below what is forbidden',
        { spec: { allowedUnsafeSysctls: ['a.b'], forbiddenSysctls: ['a.*'] } },
        ['Invalid spec.allowedUnsafeSysctls[0]'],
      ],
      [
        'every sysctl, and one',
        { spec: { forbiddenSysctls: ['*', 'a'] } },
        ['Forbidden spec.forbiddenSysctls.items'],
      ],
      ['an empty sysctl', { spec: { forbiddenSysctls: [''] } }, ['Invalid spec.forbiddenSysctls[0]']],
      ['a volume by the name of its field', { spec: { volumes: ['cephfs'] } }, ['NotSupported spec.volumes']],
      [
        'runtime classes that are odd, listed twice, or no default',
        {
          spec: { runtimeClass: { allowedRuntimeClassNames: ['A', 'b', 'b'], defaultRuntimeClassName: 'c' } },
        },
        [
          'Invalid spec.runtimeClass.allowedRuntimeClassNames[0]',
          'Duplicate spec.runtimeClass.allowedRuntimeClassNames[2]',
          'Required spec.runtimeClass.allowedRuntimeClassNames',
        ],
      ],
      [
        'profiles of no kind',
        {
          metadata: {
            annotations: {
              [ANNOTATION.appArmorAllowedProfiles]: '*,runtime/default',
              [ANNOTATION.seccompAllowedProfiles]: '*,odd',
            },
          },
        },
        [ANNOTATION.appArmorAllowedProfiles, ANNOTATION.seccompAllowedProfiles].map(
          (key) => `Invalid metadata.annotations[${key}]`,
        ),
      ],
    ],
  },
];
