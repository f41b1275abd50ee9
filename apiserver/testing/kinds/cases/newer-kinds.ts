import { generateKeyPairSync, sign } from 'node:crypto';
import { makeCa } from '../../../../shared/certs/certificate';
import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } };

const CA = makeCa({ commonName: 'test', validDays: 1 }).certificatePem;
const POD_UID = 'pod-uid';

/** A new key, and the proof that its owner has it. */
function provenKey(podUid: string): object {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    pkixPublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    proofOfPossession: sign(null, Buffer.from(podUid), privateKey).toString('base64'),
  };
}

/** The kinds of releases after the first level, apart from those of the group `resource`. */
export const newerKindCases: readonly KindCases[] = [
  {
    kind: 'ValidatingAdmissionPolicy',
    url: `/apis/${GROUP.admissionregistration}/v1/validatingadmissionpolicies`,
    good: { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } },
    bad: [
      ['no rules', { spec: { matchConstraints: null } }, ['Required spec.matchConstraints']],
      [
        'nothing to evaluate',
        { spec: { validations: [] } },
        ['Required spec.auditAnnotations', 'Required spec.validations'],
      ],
      [
        'a blank expression and a message of two lines',
        { spec: { validations: [{ expression: ' ', message: 'a\nb' }] } },
        ['Invalid spec.validations[0].message', 'Required spec.validations[0].expression'],
      ],
      [
        'a parameter kind without a version',
        { spec: { paramKind: { apiVersion: 'example.com/', kind: 'A_' } } },
        ['Invalid spec.paramKind.apiVersion', 'Invalid spec.paramKind.kind'],
      ],
      [
        'match conditions of one name',
        {
          spec: {
            matchConditions: [
              { name: 'a', expression: 'true' },
              { name: 'a', expression: '' },
            ],
          },
        },
        ['Duplicate spec.matchConditions[1].name', 'Required spec.matchConditions[1].expression'],
      ],
      [
        'a variable with a reserved name',
        { spec: { variables: [{ name: 'for', expression: '1' }] } },
        ['Invalid spec.variables[0].name'],
      ],
      [
        'an audit annotation twice',
        {
          spec: {
            auditAnnotations: [
              { key: 'k', valueExpression: '"a"' },
              { key: 'k', valueExpression: '"a"' },
            ],
          },
        },
        ['Duplicate spec.auditAnnotations[1].key'],
      ],
    ],
  },
  {
    kind: 'ValidatingAdmissionPolicyBinding',
    url: `/apis/${GROUP.admissionregistration}/v1/validatingadmissionpolicybindings`,
    good: { spec: { policyName: 'p', validationActions: ['Deny'] } },
    bad: [
      ['no action', { spec: { validationActions: null } }, ['Required spec.validationActions']],
      [
        'two actions that say the same',
        { spec: { validationActions: ['Deny', 'Warn'] } },
        ['Invalid spec.validationActions'],
      ],
      [
        'parameters by name and by selector',
        { spec: { paramRef: { name: 'n', selector: {} } } },
        [
          'Forbidden spec.paramRef.name',
          'Forbidden spec.paramRef.selector',
          'Required spec.paramRef.parameterNotFoundAction',
        ],
      ],
    ],
  },
  {
    kind: 'MutatingAdmissionPolicy',
    url: `/apis/${GROUP.admissionregistration}/v1/mutatingadmissionpolicies`,
    good: {
      spec: {
        matchConstraints: { resourceRules: [rule] },
        reinvocationPolicy: 'Never',
        mutations: [mutation],
      },
    },
    bad: [
      ['no mutation', { spec: { mutations: [] } }, ['Required spec.mutations']],
      [
        'a patch of another type',
        { spec: { mutations: [{ ...mutation, patchType: 'JSONPatch' }] } },
        ['Invalid spec.mutations[0].applyConfiguration', 'Required spec.mutations[0].jsonPatch'],
      ],
      [
        'deletions',
        { spec: { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } } },
        ['NotSupported spec.matchConstraints.resourceRules.operations'],
      ],
    ],
  },
  {
    kind: 'MutatingAdmissionPolicyBinding',
    url: `/apis/${GROUP.admissionregistration}/v1/mutatingadmissionpolicybindings`,
    good: { spec: { policyName: 'p' } },
    bad: [['no policy', { spec: { policyName: null } }, ['Required spec.policyName']]],
  },
  {
    kind: 'LeaseCandidate',
    url: `/apis/${GROUP.coordination}/v1beta1/namespaces/default/leasecandidates`,
    good: {
      spec: {
        leaseName: 'l',
        binaryVersion: '1.36.0',
        emulationVersion: '1.35.0',
        strategy: 'OldestEmulationVersion',
      },
    },
    bad: [
      [
        'no strategy and no version',
        { spec: { binaryVersion: null, strategy: null } },
        ['Required spec.binaryVersion', 'Required spec.strategy'],
      ],
      ['a newer emulation', { spec: { emulationVersion: '1.37.0' } }, ['Invalid spec.binaryVersion']],
      [
        'no semantic version',
        { spec: { emulationVersion: '1.36' } },
        ['Invalid spec.emulationVersion', 'Required spec.emulationVersion'],
      ],
    ],
    badChanges: [['of the lease', { spec: { leaseName: 'm' } }, ['Invalid spec.leaseName']]],
  },
  {
    kind: 'IPAddress',
    url: `/apis/${GROUP.networking}/v1/ipaddresses`,
    good: {
      metadata: { name: '192.168.1.1' },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
    },
    bad: [
      ['leading zeros', { metadata: { name: '010.1.1.1' } }, ['Invalid metadata.name']],
      ['no canonical form', { metadata: { name: '2001:DB8::1' } }, ['Invalid metadata.name']],
      ['no parent', { spec: { parentRef: null } }, ['Required spec.parentRef']],
    ],
    badChanges: [['of the parent', { spec: { parentRef: { name: 't' } } }, ['Invalid spec.parentRef']]],
  },
  {
    kind: 'ServiceCIDR',
    url: `/apis/${GROUP.networking}/v1/servicecidrs`,
    good: { spec: { cidrs: ['10.1.0.0/16'] } },
    bad: [
      ['none', { spec: { cidrs: [] } }, ['Required spec.cidrs']],
      ['bits after the prefix', { spec: { cidrs: ['10.1.0.1/16'] } }, ['Invalid spec.cidrs[0]']],
      ['one family twice', { spec: { cidrs: ['10.1.0.0/16', '10.2.0.0/16'] } }, ['Invalid spec.cidrs']],
    ],
    badChanges: [['of the range', { spec: { cidrs: ['10.2.0.0/16'] } }, ['Invalid spec.cidrs[0]']]],
    goodChanges: [['a second family', { spec: { cidrs: ['10.1.0.0/16', 'fd00::/112'] } }]],
  },
  {
    kind: 'VolumeAttributesClass',
    url: `/apis/${GROUP.storage}/v1/volumeattributesclasses`,
    good: { driverName: 'd.example.com', parameters: { iops: '1' } },
    bad: [
      ['no parameters', { parameters: null }, ['Required parameters']],
      ['no driver', { driverName: '' }, ['Required driverName']],
    ],
    badChanges: [['of the parameters', { parameters: { iops: '2' } }, ['Forbidden parameters']]],
  },
  {
    kind: 'StorageVersionMigration',
    url: `/apis/${GROUP.storagemigration}/v1beta1/storageversionmigrations`,
    good: { spec: { resource: { group: 'apps', resource: 'deployments' } } },
    bad: [['no resource', { spec: { resource: { resource: '' } } }, ['Required spec.resource.resource']]],
    badChanges: [['of the resource', { spec: { resource: { resource: 'pods' } } }, ['Invalid spec']]],
  },
  {
    kind: 'ClusterTrustBundle',
    url: `/apis/${GROUP.certificates}/v1beta1/clustertrustbundles`,
    good: { spec: { trustBundle: CA } },
    bad: [
      ['no certificate', { spec: { trustBundle: 'x' } }, ['Invalid spec.trustBundle']],
      ['an anchor twice', { spec: { trustBundle: `${CA}${CA}` } }, ['Invalid spec.trustBundle']],
      ["a signer's without its prefix", { spec: { signerName: 'example.com/a' } }, ['Invalid metadata.name']],
    ],
  },
  {
    kind: 'PodCertificateRequest',
    url: `/apis/${GROUP.certificates}/v1beta1/namespaces/default/podcertificaterequests`,
    good: {
      spec: {
        signerName: 'example.com/signer',
        podName: 'p',
        podUID: POD_UID,
        serviceAccountName: 'a',
        serviceAccountUID: 'u',
        nodeName: 'n',
        nodeUID: 'u',
        ...provenKey(POD_UID),
      },
    },
    bad: [
      [
        'a lifetime of a minute',
        { spec: { maxExpirationSeconds: 60 } },
        ['Invalid spec.maxExpirationSeconds'],
      ],
      ['a signature of another UID', { spec: { podUID: 'v' } }, ['Invalid spec.proofOfPossession']],
      ['no key', { spec: { pkixPublicKey: null, proofOfPossession: null } }, ['Invalid spec']],
    ],
    badChanges: [['of the pod', { spec: { podName: 'q' } }, ['Invalid spec']]],
  },
];
