import { ANNOTATION, GROUP, PROTECTED_GROUP_SUFFIXES } from '../../shared/names';
import { testKind } from './testing/kind-table';

const hook = {
  name: 'hook.example.com',
  clientConfig: { service: { namespace: 'ns', name: 'svc' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const withHook = (change: object): object => ({ webhooks: [{ ...hook, ...change }] });
const withRule = (change: object): object => withHook({ rules: [{ ...hook.rules[0], ...change }] });
const AT = 'webhooks[0]';
const RULE = `${AT}.rules[0]`;

testKind('ValidatingWebhookConfiguration', {
  url: `/apis/${GROUP.admissionregistration}/v1/validatingwebhookconfigurations`,
  good: { webhooks: [hook] },
  bad: [
    ['a name of two labels', withHook({ name: 'a.b' }), [`Invalid ${AT}.name`]],
    ['one name twice', { webhooks: [hook, hook] }, ['Duplicate webhooks[1].name']],
    ['no way to it', withHook({ clientConfig: {} }), [`Required ${AT}.clientConfig`]],
    [
      'plain HTTP',
      withHook({ clientConfig: { url: 'http://a.example.com' } }),
      [`Invalid ${AT}.clientConfig.url`],
    ],
    [
      'a URL without host',
      withHook({ clientConfig: { url: 'https://' } }),
      [`Invalid ${AT}.clientConfig.url`],
    ],
    [
      'no name of the service',
      withHook({ clientConfig: { service: { namespace: 'n', name: '' } } }),
      [`Required ${AT}.clientConfig.service.name`],
    ],
    [
      'a relative path',
      withHook({ clientConfig: { service: { namespace: 'n', name: 's', path: 'rel' } } }),
      [`Invalid ${AT}.clientConfig.service.path`],
    ],
    ['no operation', withRule({ operations: [] }), [`Required ${RULE}.operations`]],
    ['an unknown operation', withRule({ operations: ['ODD'] }), [`NotSupported ${RULE}.operations[0]`]],
    ['everything and more', withRule({ apiGroups: ['*', 'a'] }), [`Invalid ${RULE}.apiGroups`]],
    ['an empty version', withRule({ apiVersions: ['', 'v1'] }), [`Required ${RULE}.apiVersions[0]`]],
    [
      'a covered resource',
      withRule({ resources: ['pods/*', 'pods/status'] }),
      [`Invalid ${RULE}.resources[1]`],
    ],
    ['all resources and one', withRule({ resources: ['*', 'pods'] }), [`Invalid ${RULE}.resources`]],
    ['an unknown scope', withRule({ scope: 'Odd' }), [`NotSupported ${RULE}.scope`]],
    ['side effects', withHook({ sideEffects: 'Some' }), [`NotSupported ${AT}.sideEffects`]],
    ['no word of side effects', withHook({ sideEffects: undefined }), [`Required ${AT}.sideEffects`]],
    [
      'no version of reviews',
      withHook({ admissionReviewVersions: [] }),
      [`Required ${AT}.admissionReviewVersions`],
    ],
    [
      'versions of reviews that nobody speaks',
      withHook({ admissionReviewVersions: ['v9'] }),
      [`Invalid ${AT}.admissionReviewVersions`],
    ],
    ['too long a wait', withHook({ timeoutSeconds: 31 }), [`Invalid ${AT}.timeoutSeconds`]],
    ['an unknown failure', withHook({ failurePolicy: 'Odd' }), [`NotSupported ${AT}.failurePolicy`]],
  ],
  goodChanges: [['no webhook', { webhooks: [] }]],
});

testKind('webhook configuration of the older version', {
  url: `/apis/${GROUP.admissionregistration}/v1beta1/mutatingwebhookconfigurations`,
  good: {
    webhooks: [
      { ...hook, sideEffects: undefined },
      { ...hook, sideEffects: 'Unknown' },
    ],
  },
});

const service = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };

testKind('APIService', {
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
});

const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
};
const withVersion = (change: object): object => ({ spec: { versions: [{ ...version, ...change }] } });
const withField = (field: object): object =>
  withVersion({ schema: { openAPIV3Schema: { type: 'object', properties: { a: field } } } });
const ROOT = 'spec.validation.openAPIV3Schema';
const FIELD = `${ROOT}.properties[a]`;
const protectedGroup = `x${PROTECTED_GROUP_SUFFIXES[0] ?? ''}`;

testKind('CustomResourceDefinition', {
  url: `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`,
  good: {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version],
    },
  },
  bad: [
    ['another name', { metadata: { name: 'gadgets.example.com' } }, ['Invalid metadata.name']],
    ['no scope', { spec: { scope: null } }, ['Required spec.scope']],
    ['an unknown scope', { spec: { scope: 'Odd' } }, ['NotSupported spec.scope']],
    [
      'a short name in capitals',
      { spec: { names: { shortNames: ['W'] } } },
      ['Invalid spec.names.shortNames[0]'],
    ],
    [
      'one name for one and many',
      { spec: { names: { listKind: 'Widget' } } },
      ['Invalid spec.names.listKind'],
    ],
    ['no version', { spec: { versions: [] } }, ['Invalid spec.versions', 'Invalid status.storedVersions']],
    [
      'no stored version',
      withVersion({ storage: false }),
      ['Invalid spec.versions', 'Invalid status.storedVersions'],
    ],
    ['no schema', withVersion({ schema: undefined }), ['Required spec.versions[0].schema.openAPIV3Schema']],
    ['unknown fields', { spec: { preserveUnknownFields: true } }, ['Invalid spec.preserveUnknownFields']],
    [
      'a warning without cause',
      withVersion({ deprecationWarning: 'x' }),
      ['Invalid spec.versions[0].deprecationWarning'],
    ],
    ['a field without type', withField({}), [`Required ${FIELD}.type`]],
    ['an unknown type', withField({ type: 'odd' }), [`NotSupported ${FIELD}.type`]],
    ['a list of anything', withField({ type: 'array' }), [`Required ${FIELD}.items`]],
    ['a reference', withField({ $ref: '#/x' }), [`Forbidden ${FIELD}.$ref`]],
    ['a bad pattern', withField({ type: 'string', pattern: '[' }), [`Invalid ${FIELD}.pattern`]],
    ['a default of another type', withField({ type: 'string', default: 5 }), [`Invalid ${FIELD}.default`]],
    [
      'a default out of range',
      withField({ type: 'integer', minimum: 5, default: 1 }),
      [`Invalid ${FIELD}.default`],
    ],
    [
      'structure in a choice',
      withField({ type: 'string', anyOf: [{ type: 'string' }] }),
      [`Forbidden ${FIELD}.anyOf[0].type`],
    ],
    [
      'a keyed list without keys',
      withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
      [`Required ${FIELD}.x-kubernetes-list-map-keys`],
    ],
    [
      'a column of nothing',
      withVersion({ additionalPrinterColumns: [{ name: 'a', type: 'odd', jsonPath: 'x' }] }),
      ['Invalid spec.additionalPrinterColumns[0].JSONPath', 'Invalid spec.additionalPrinterColumns[0].type'],
    ],
    [
      'a scale without paths',
      withVersion({ subresources: { scale: { specReplicasPath: '.status.x', statusReplicasPath: '' } } }),
      [
        'Invalid spec.subresources.scale.specReplicasPath',
        'Required spec.subresources.scale.statusReplicasPath',
      ],
    ],
    [
      'an unknown conversion',
      { spec: { conversion: { strategy: 'Odd' } } },
      ['NotSupported spec.conversion.strategy'],
    ],
    [
      'a conversion by nobody',
      { spec: { conversion: { strategy: 'Webhook' } } },
      ['Required spec.conversion.conversionReviewVersions', 'Required spec.conversion.webhookClientConfig'],
    ],
    [
      'a group of the project without approval',
      { metadata: { name: `widgets.${protectedGroup}` }, spec: { group: protectedGroup } },
      [`Required metadata.annotations[${ANNOTATION.apiApproved}]`],
    ],
  ],
});

const rule = {
  subjects: [{ kind: 'Group', group: { name: 'g' } }],
  resourceRules: [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
};
const withFlowRule = (change: object): object => ({ spec: { rules: [{ ...rule, ...change }] } });

testKind('FlowSchema', {
  url: `/apis/${GROUP.flowcontrol}/v1beta1/flowschemas`,
  good: { spec: { priorityLevelConfiguration: { name: 'catch-all' }, rules: [rule] } },
  bad: [
    [
      'no level',
      { spec: { priorityLevelConfiguration: { name: '' } } },
      ['Required spec.priorityLevelConfiguration.name'],
    ],
    ['the first place', { spec: { matchingPrecedence: 1 } }, ['Invalid spec.matchingPrecedence']],
    ['nobody', withFlowRule({ subjects: [] }), ['Required spec.rules[0].subjects']],
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
});

const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };
const withQueuing = (change: object): object => ({
  spec: { limited: { limitResponse: { queuing: { ...queuing, ...change } } } },
});
const QUEUING = 'spec.limited.limitResponse.queuing';

testKind('PriorityLevelConfiguration', {
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
});
