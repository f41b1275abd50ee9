import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const RBAC = `/apis/${GROUP.rbac}/v1`;

const NAMESPACED = `${RBAC}/namespaces/default`;

const BINDING = {
  roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'User', apiGroup: GROUP.rbac, name: 'jane' }],
};

export const rbacCases: readonly KindCases[] = [
  {
    kind: 'Role',
    url: `${NAMESPACED}/roles`,
    good: { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] },
    bad: [
      ['no verb', { rules: [{ apiGroups: [''], resources: ['pods'] }] }, ['Required rules[0].verbs']],
      ['no group', { rules: [{ verbs: ['get'], resources: ['pods'] }] }, ['Required rules[0].apiGroups']],
      ['no resource', { rules: [{ verbs: ['get'], apiGroups: [''] }] }, ['Required rules[0].resources']],
      [
        'a URL',
        { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
        ['Invalid rules[0].nonResourceURLs'],
      ],
    ],
  },
  {
    kind: 'ClusterRole',
    url: `${RBAC}/clusterroles`,
    good: { rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] },
    bad: [
      [
        'a URL and a resource',
        { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], apiGroups: [''], resources: ['pods'] }] },
        ['Invalid rules[0].nonResourceURLs'],
      ],
      [
        'an aggregation of nothing',
        { aggregationRule: {} },
        ['Required aggregationRule.clusterRoleSelectors'],
      ],
      [
        'a bad selector',
        { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] } },
        [
          'Invalid aggregationRule.clusterRoleSelectors[0]',
          'Invalid aggregationRule.clusterRoleSelectors[0].matchLabels',
        ],
      ],
      ['a slash in its name', { metadata: { name: 'a/b' } }, ['Invalid metadata.name']],
    ],
  },
  {
    kind: 'RoleBinding',
    url: `${NAMESPACED}/rolebindings`,
    good: BINDING,
    bad: [
      ['no role', { roleRef: null }, ['NotSupported roleRef.kind', 'Required roleRef.name']],
      ['an unknown kind of role', { roleRef: { kind: 'Odd' } }, ['NotSupported roleRef.kind']],
      ['a role of another group', { roleRef: { apiGroup: 'x' } }, ['NotSupported roleRef.apiGroup']],
      ['an unknown subject', { subjects: [{ kind: 'Odd', name: 'x' }] }, ['NotSupported subjects[0].kind']],
      [
        'a subject without a name',
        { subjects: [{ kind: 'Group', name: '' }] },
        ['Required subjects[0].name'],
      ],
      [
        'an account with a group',
        { subjects: [{ kind: 'ServiceAccount', name: 'a', apiGroup: GROUP.rbac }] },
        ['NotSupported subjects[0].apiGroup'],
      ],
      [
        'a bad account',
        { subjects: [{ kind: 'ServiceAccount', name: 'B@d' }] },
        ['Invalid subjects[0].name'],
      ],
    ],
    badChanges: [['another role', { roleRef: { name: 'edit' } }, ['Invalid roleRef']]],
    goodChanges: [['no subjects left', { subjects: null }]],
  },
  {
    kind: 'ClusterRoleBinding',
    url: `${RBAC}/clusterrolebindings`,
    good: BINDING,
    bad: [
      ['a role of a namespace', { roleRef: { kind: 'Role' } }, ['NotSupported roleRef.kind']],
      [
        'an account of no namespace',
        { subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
        ['Required subjects[0].namespace'],
      ],
    ],
  },
];
