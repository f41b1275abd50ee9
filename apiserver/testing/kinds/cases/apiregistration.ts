import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const service = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };

export const apiregistrationCases: readonly KindCases[] = [
  {
    kind: 'APIService',
    url: `/apis/${GROUP.apiregistration}/v1/apiservices`,
    good: {
      metadata: { name: 'v1.example.com' },
      spec: { ...service, service: { namespace: 'n', name: 's' } },
    },
    bad: [
      ['another name', { metadata: { name: 'v2.example.com' } }, ['Invalid metadata.name']],
      ['no priority', { spec: { groupPriorityMinimum: 0 } }, ['Invalid spec.groupPriorityMinimum']],
      ['too much priority', { spec: { versionPriority: 1001 } }, ['Invalid spec.versionPriority']],
      ['no service', { spec: { service: { name: '' } } }, ['Required spec.service.name']],
      [
        'trust and distrust',
        { spec: { insecureSkipTLSVerify: true, caBundle: 'eA==' } },
        ['Invalid spec.insecureSkipTLSVerify'],
      ],
      ['trust in itself', { spec: { service: null, caBundle: 'eA==' } }, ['Invalid spec.caBundle']],
    ],
  },
];
