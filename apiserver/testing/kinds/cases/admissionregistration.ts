import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

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

export const admissionregistrationCases: readonly KindCases[] = [
  {
    kind: 'ValidatingWebhookConfiguration',
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
        [`Required ${AT}.clientConfig.service.namespace`],
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
        'only unknown review versions',
        withHook({ admissionReviewVersions: ['v9'] }),
        [`Invalid ${AT}.admissionReviewVersions`],
      ],
      ['too long a wait', withHook({ timeoutSeconds: 31 }), [`Invalid ${AT}.timeoutSeconds`]],
      ['an unknown failure', withHook({ failurePolicy: 'Odd' }), [`NotSupported ${AT}.failurePolicy`]],
    ],
    goodChanges: [['no webhook', { webhooks: [] }]],
  },
  {
    kind: 'webhook configuration of the older version',
    url: `/apis/${GROUP.admissionregistration}/v1beta1/mutatingwebhookconfigurations`,
    good: {
      webhooks: [
        { ...hook, sideEffects: undefined },
        { ...hook, sideEffects: 'Unknown' },
      ],
    },
  },
];
