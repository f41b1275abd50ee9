import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const rule = {
  subjects: [{ kind: 'Group', group: { name: 'g' } }],
  resourceRules: [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
};

const withFlowRule = (change: object): object => ({ spec: { rules: [{ ...rule, ...change }] } });

const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };

const withQueuing = (change: object): object => ({
  spec: { limited: { limitResponse: { queuing: { ...queuing, ...change } } } },
});

const QUEUING = 'spec.limited.limitResponse.queuing';

export const flowcontrolCases: readonly KindCases[] = [
  {
    kind: 'FlowSchema',
    url: `/apis/${GROUP.flowcontrol}/v1beta1/flowschemas`,
    good: { spec: { priorityLevelConfiguration: { name: 'catch-all' }, rules: [rule] } },
    bad: [
      [
        'no level',
        { spec: { priorityLevelConfiguration: { name: '' } } },
        ['Required spec.priorityLevelConfiguration.name'],
      ],
      ['the first place', { spec: { matchingPrecedence: 1 } }, ['Invalid spec.matchingPrecedence']],
      ['no subjects', withFlowRule({ subjects: [] }), ['Required spec.rules[0].subjects']],
      [
        'an unknown subject',
        withFlowRule({ subjects: [{ kind: 'Odd' }] }),
        ['NotSupported spec.rules[0].subjects[0].kind'],
      ],
      ['nothing to do', withFlowRule({ resourceRules: [] }), ['Required spec.rules[0]']],
      [
        'a relative URL',
        withFlowRule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['x'] }] }),
        ['Invalid spec.rules[0].nonResourceRules[0].nonResourceURLs[0]'],
      ],
    ],
  },
  {
    kind: 'PriorityLevelConfiguration',
    url: `/apis/${GROUP.flowcontrol}/v1beta1/prioritylevelconfigurations`,
    good: {
      spec: {
        type: 'Limited',
        limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Queue', queuing } },
      },
    },
    bad: [
      ['an unknown type', { spec: { type: 'Odd' } }, ['NotSupported spec.type']],
      ['freedom', { spec: { type: 'Exempt', limited: null } }, ['Invalid spec.type']],
      [
        'negative shares',
        { spec: { limited: { assuredConcurrencyShares: -1 } } },
        ['Invalid spec.limited.assuredConcurrencyShares'],
      ],
      ['a hand of more than all queues', withQueuing({ handSize: 65 }), [`Invalid ${QUEUING}.handSize`]],
      ['too many queues', withQueuing({ queues: 10_000_001, handSize: 1 }), [`Invalid ${QUEUING}.queues`]],
      ['queues of no length', withQueuing({ queueLengthLimit: -1 }), [`Invalid ${QUEUING}.queueLengthLimit`]],
      [
        'queues for what is rejected',
        { spec: { limited: { limitResponse: { type: 'Reject' } } } },
        [`Forbidden ${QUEUING}`],
      ],
    ],
  },
];
