import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const V1 = `/apis/${GROUP.storage}/v1`;

const INLINE = { csi: { driver: 'd.example.com', volumeHandle: 'h' }, accessModes: ['ReadWriteOnce'] };

export const storageCases: readonly KindCases[] = [
  {
    kind: 'StorageClass',
    url: `${V1}/storageclasses`,
    good: { provisioner: 'example.com/disk', parameters: { type: 'fast' } },
    bad: [
      ['no provisioner', { provisioner: '' }, ['Required provisioner']],
      ['a bad provisioner', { provisioner: 'a b' }, ['Invalid provisioner']],
      ['an unknown end', { reclaimPolicy: 'Recycle' }, ['NotSupported reclaimPolicy']],
      ['an unknown binding', { volumeBindingMode: 'Odd' }, ['NotSupported volumeBindingMode']],
      ['an empty parameter', { parameters: { '': 'x' } }, ['Invalid parameters']],
      [
        'a topology without values',
        { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone' }] }] },
        ['Required allowedTopologies[0].matchLabelExpressions[0].values'],
      ],
      [
        'a topology that demands nothing',
        { allowedTopologies: [{ matchLabelExpressions: [] }] },
        ['Duplicate allowedTopologies[0].matchLabelExpressions'],
      ],
      [
        'a topology twice, in another order',
        {
          allowedTopologies: [
            { matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] },
            { matchLabelExpressions: [{ key: 'zone', values: ['b', 'a'] }] },
          ],
        },
        ['Duplicate allowedTopologies[1].matchLabelExpressions'],
      ],
    ],
    badChanges: [
      ['another provisioner', { provisioner: 'other' }, ['Forbidden provisioner']],
      ['another parameter', { parameters: { type: 'slow' } }, ['Forbidden parameters']],
      ['another end', { reclaimPolicy: 'Retain' }, ['Forbidden reclaimPolicy']],
      ['another binding', { volumeBindingMode: 'WaitForFirstConsumer' }, ['Invalid volumeBindingMode']],
    ],
    goodChanges: [['expansion', { allowVolumeExpansion: true }]],
  },
  {
    kind: 'CSIDriver',
    url: `${V1}/csidrivers`,
    good: { spec: { attachRequired: false } },
    bad: [
      [
        'an unknown life',
        { spec: { volumeLifecycleModes: ['Odd'] } },
        ['NotSupported spec.volumeLifecycleModes'],
      ],
      ['an unknown ownership', { spec: { fsGroupPolicy: 'Odd' } }, ['NotSupported spec.fsGroupPolicy']],
    ],
    badChanges: [
      [
        'another way to attach, and another life',
        { spec: { attachRequired: true, volumeLifecycleModes: ['Ephemeral'] } },
        ['Invalid spec.attachedRequired', 'Invalid spec.volumeLifecycleModes'],
      ],
      ['another ownership', { spec: { fsGroupPolicy: 'File' } }, ['Invalid spec.fsGroupPolicy']],
    ],
    goodChanges: [['tokens', { spec: { tokenRequests: [{ audience: 'a' }] } }]],
  },
  {
    kind: 'CSINode',
    url: `${V1}/csinodes`,
    good: { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n', topologyKeys: ['example.com/zone'] }] } },
    bad: [
      ['no id', { spec: { drivers: [{ name: 'd', nodeID: '' }] } }, ['Required spec.drivers[0].nodeID']],
      [
        'a driver twice',
        {
          spec: {
            drivers: [
              { name: 'd', nodeID: 'n' },
              { name: 'd', nodeID: 'm' },
            ],
          },
        },
        ['Duplicate spec.drivers[1].name'],
      ],
      [
        'room for fewer than none',
        { spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: { count: -1 } }] } },
        ['Invalid spec.drivers[0].allocatable.count'],
      ],
      [
        'a long id and a bad key, twice',
        { spec: { drivers: [{ name: 'd', nodeID: 'n'.repeat(129), topologyKeys: ['a b', 'a b'] }] } },
        ['Duplicate spec.drivers[0]', 'Invalid spec.drivers[0]', 'Invalid spec.drivers[0].nodeID'],
      ],
    ],
    badChanges: [
      [
        'another id',
        { spec: { drivers: [{ name: 'd.example.com', nodeID: 'm' }] } },
        ['Invalid CSINodeDriver'],
      ],
      [
        'another, long id',
        { spec: { drivers: [{ name: 'd.example.com', nodeID: 'm'.repeat(129) }] } },
        ['Invalid CSINodeDriver', 'Invalid spec.drivers[0].nodeID'],
      ],
    ],
    goodChanges: [['no driver', { spec: { drivers: [] } }]],
  },
  {
    kind: 'VolumeAttachment',
    url: `${V1}/volumeattachments`,
    good: { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } },
    bad: [
      ['no attacher', { spec: { attacher: '' } }, ['Invalid spec.attacher', 'Required spec.attacher']],
      ['no node', { spec: { nodeName: '' } }, ['Invalid spec.nodeName']],
      ['no source', { spec: { source: { persistentVolumeName: null } } }, ['Required spec.source']],
      [
        'an empty source',
        { spec: { source: { persistentVolumeName: '' } } },
        ['Invalid spec.source.persistentVolumeName', 'Required spec.source.persistentVolumeName'],
      ],
      [
        'a bad volume',
        { spec: { source: { persistentVolumeName: 'B@d' } } },
        ['Invalid spec.source.persistentVolumeName'],
      ],
    ],
    badChanges: [['another node', { spec: { nodeName: 'm' } }, ['Invalid spec']]],
  },
  {
    kind: 'VolumeAttachment',
    url: `/apis/${GROUP.storage}/v1beta1/volumeattachments`,
    good: { spec: { attacher: 'A b', nodeName: 'n', source: { inlineVolumeSpec: INLINE } } },
    bad: [
      [
        'a volume that is claimed, sized and placed',
        {
          spec: {
            source: {
              inlineVolumeSpec: {
                claimRef: { name: 'c' },
                capacity: { storage: '1Gi' },
                storageClassName: 'fast',
                nodeAffinity: {},
                persistentVolumeReclaimPolicy: 'Delete',
                volumeMode: 'Block',
              },
            },
          },
        },
        [
          'capacity',
          'claimRef',
          'nodeAffinity',
          'persistentVolumeReclaimPolicy',
          'storageClassName',
          'volumeMode',
        ].map((field) => `Forbidden spec.source.inlineVolumeSpec.${field}`),
      ],
      [
        'a volume whose mode is said to be none',
        { spec: { source: { inlineVolumeSpec: { volumeMode: '' } } } },
        ['Forbidden spec.source.inlineVolumeSpec.volumeMode'],
      ],
      [
        'a volume of no driver',
        { spec: { source: { inlineVolumeSpec: { csi: null } } } },
        ['Required spec.source.inlineVolumeSpec', 'Required spec.source.inlineVolumeSpec.csi'],
      ],
    ],
  },
];
