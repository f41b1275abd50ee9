import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const slice = { driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n' };
const claims = `/apis/${GROUP.resource}/v1/namespaces/default/resourceclaims`;
const request = (exactly: object): object => ({ spec: { devices: { requests: [{ name: 'r', exactly }] } } });
const selector = (expression: string): object => ({ cel: { expression } });
/** Ten times ten times ten elements and so on. */
const EXPENSIVE = Array.from('abcdefg').reduce(
  (inner, name) => `[0,1,2,3,4,5,6,7,8,9].all(${name}, ${inner})`,
  'true',
);
const devices = (...list: readonly object[]): object => ({ spec: { devices: list } });

export const resourceCases: readonly KindCases[] = [
  {
    kind: 'ResourceClaim',
    url: claims,
    good: request({ deviceClassName: 'c' }),
    bad: [
      [
        'no class',
        request({ deviceClassName: '' }),
        ['Required spec.devices.requests[0].exactly.deviceClassName'],
      ],
      [
        'no devices',
        request({ deviceClassName: 'c', count: -1 }),
        ['Invalid spec.devices.requests[0].exactly.count'],
      ],
      [
        'neither a request nor alternatives',
        { spec: { devices: { requests: [{ name: 'r' }] } } },
        ['Required spec.devices.requests[0]'],
      ],
      [
        'one name twice',
        {
          spec: {
            devices: { requests: ['a', 'a'].map((name) => ({ name, exactly: { deviceClassName: 'c' } })) },
          },
        },
        ['Duplicate spec.devices.requests[1]'],
      ],
      [
        'an unknown request in a constraint',
        { spec: { devices: { constraints: [{ requests: ['q'], matchAttribute: 'a' }] } } },
        [
          'Invalid spec.devices.constraints[0].matchAttribute',
          'Invalid spec.devices.constraints[0].requests[0]',
        ],
      ],
      [
        'parameters that are no object',
        { spec: { devices: { config: [{ opaque: { driver: 'd', parameters: [1] } }] } } },
        ['Invalid spec.devices.config[0].opaque.parameters'],
      ],
      [
        'selectors that do not compile, have no bool or cost too much',
        request({ deviceClassName: 'c', selectors: ['device.a', '1', EXPENSIVE].map(selector) }),
        [
          'Invalid spec.devices.requests[0].exactly.selectors[0].cel.expression',
          'Invalid spec.devices.requests[0].exactly.selectors[1].cel.expression',
          'Forbidden spec.devices.requests[0].exactly.selectors[2].cel.expression',
        ],
      ],
      [
        'an unknown operator',
        request({ deviceClassName: 'c', tolerations: [{ key: 'k', operator: 'X' }] }),
        ['NotSupported spec.devices.requests[0].exactly.tolerations[0].operator'],
      ],
    ],
    badChanges: [['of the spec', { spec: { devices: { requests: null } } }, ['Invalid spec']]],
  },
  {
    kind: 'ResourceClaim of an older version',
    url: claims.replace('/v1/', '/v1beta1/'),
    good: { spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c' }] } } },
    bad: [
      [
        'no class',
        { spec: { devices: { requests: [{ name: 'r' }] } } },
        ['Required spec.devices.requests[0]'],
      ],
      [
        'a selector that does not compile',
        {
          spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c', selectors: [selector('a')] }] } },
        },
        ['Invalid spec.devices.requests[0].exactly.selectors[0].cel.expression'],
      ],
    ],
  },
  {
    kind: 'ResourceClaimTemplate',
    url: `/apis/${GROUP.resource}/v1/namespaces/default/resourceclaimtemplates`,
    good: { spec: request({ deviceClassName: 'c' }) },
    bad: [
      ['a name', { spec: { metadata: { name: 'a' } } }, ['Forbidden spec.metadata.name']],
      [
        'a selector that does not compile',
        { spec: request({ deviceClassName: 'c', selectors: [selector('a')] }) },
        ['Invalid spec.spec.devices.requests[0].exactly.selectors[0].cel.expression'],
      ],
    ],
  },
  {
    kind: 'DeviceClass',
    url: `/apis/${GROUP.resource}/v1/deviceclasses`,
    good: { spec: { selectors: [{ cel: { expression: 'true' } }] } },
    bad: [
      ['a selector of nothing', { spec: { selectors: [{}] } }, ['Required spec.selectors[0].cel']],
      [
        'a selector that is too long, and one with a function of the newest libraries',
        { spec: { selectors: [`'${'a'.repeat(10_240)}' == ''`, '1.includes(1)'].map(selector) } },
        ['TooLong spec.selectors[0].cel.expression', 'Invalid spec.selectors[1].cel.expression'],
      ],
      ['a native resource', { spec: { extendedResourceName: 'cpu' } }, ['Invalid spec.extendedResourceName']],
    ],
  },
  {
    kind: 'ResourceSlice',
    url: `/apis/${GROUP.resource}/v1/resourceslices`,
    good: { spec: { ...slice, devices: [{ name: 'd', attributes: { a: { int: 1 } } }] } },
    bad: [
      ['no nodes', { spec: { nodeName: null } }, ['Required spec']],
      ['two kinds of nodes', { spec: { allNodes: true } }, ['Invalid spec']],
      [
        'a pool of no slices',
        { spec: { pool: { resourceSliceCount: 0, generation: -1 } } },
        ['Invalid spec.pool.generation', 'Invalid spec.pool.resourceSliceCount'],
      ],
      [
        'attributes of no value and of two',
        devices({ name: 'd', attributes: { a: {}, b: { int: 1, bool: true } } }),
        ['Invalid spec.devices[0].attributes[a]', 'Invalid spec.devices[0].attributes[b]'],
      ],
      [
        'an unknown effect of a taint',
        devices({ name: 'd', taints: [{ key: 'k', effect: 'X' }] }),
        ['NotSupported spec.devices[0].taints[0].effect'],
      ],
      [
        'a policy of a capacity that is not shared',
        devices({ name: 'd', capacity: { m: { value: '1', requestPolicy: { default: '1' } } } }),
        ['Forbidden spec.devices[0].capacity[m].requestPolicy'],
      ],
      [
        'a policy with a default that is no option',
        devices({
          name: 'd',
          allowMultipleAllocations: true,
          capacity: { m: { value: '4', requestPolicy: { default: '3', validValues: ['1', '8'] } } },
        }),
        [
          'Invalid spec.devices[0].capacity[m].requestPolicy.validValues',
          'Invalid spec.devices[0].capacity[m].requestPolicy.validValues[1]',
        ],
      ],
      [
        'a range with a default between its steps',
        devices({
          name: 'd',
          allowMultipleAllocations: true,
          capacity: {
            m: { value: '8', requestPolicy: { default: '3', validRange: { min: '2', step: '2' } } },
          },
        }),
        ['Invalid spec.devices[0].capacity[m].requestPolicy.validRange.step'],
      ],
      [
        'conditions without failures',
        devices({ name: 'd', bindingConditions: ['a'] }),
        ['Invalid spec.devices[0].bindingFailureConditions'],
      ],
    ],
    badChanges: [['of the driver', { spec: { driver: 'e.example.com' } }, ['Invalid spec.driver']]],
  },
  {
    kind: 'DeviceTaintRule',
    url: `/apis/${GROUP.resource}/v1beta2/devicetaintrules`,
    good: { spec: { taint: { key: 'k', effect: 'NoSchedule' } } },
    bad: [['no effect', { spec: { taint: { effect: null } } }, ['Required spec.taint.effect']]],
    goodChanges: [['of the effect', { spec: { taint: { effect: 'NoExecute' } } }]],
  },
  {
    kind: 'ResourcePoolStatusRequest',
    url: `/apis/${GROUP.resource}/v1alpha3/resourcepoolstatusrequests`,
    good: { spec: { driver: 'd.example.com' } },
    bad: [['a large limit', { spec: { limit: 5000 } }, ['Invalid spec.limit']]],
    badChanges: [['of the limit', { spec: { limit: 5 } }, ['Invalid spec']]],
  },
  {
    kind: 'PodGroup',
    url: `/apis/${GROUP.scheduling}/v1alpha2/namespaces/default/podgroups`,
    good: { spec: { schedulingPolicy: { basic: {} } } },
    bad: [
      ['no policy', { spec: { schedulingPolicy: { basic: null } } }, ['Invalid spec.schedulingPolicy']],
      [
        'two policies',
        { spec: { schedulingPolicy: { gang: { minCount: 0 } } } },
        ['Invalid spec.schedulingPolicy', 'Required spec.schedulingPolicy.gang.minCount'],
      ],
    ],
    badChanges: [
      [
        'of the policy',
        { spec: { schedulingPolicy: { basic: null, gang: { minCount: 2 } } } },
        ['Invalid spec.schedulingPolicy'],
      ],
    ],
  },
  {
    kind: 'Workload',
    url: `/apis/${GROUP.scheduling}/v1alpha2/namespaces/default/workloads`,
    good: { spec: { podGroupTemplates: [{ name: 't', schedulingPolicy: { basic: {} } }] } },
    bad: [
      ['no templates', { spec: { podGroupTemplates: [] } }, ['Required spec.podGroupTemplates']],
      [
        'a controller without a name',
        { spec: { controllerRef: { kind: 'Job', name: '' } } },
        ['Required spec.controllerRef.name'],
      ],
    ],
  },
];
