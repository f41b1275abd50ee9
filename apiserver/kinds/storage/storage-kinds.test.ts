import { GROUP } from '../../../shared/names';
import { testKind } from '../testing/kind-table';

const V1 = `/apis/${GROUP.storage}/v1`;

testKind('StorageClass', {
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
  ],
  badChanges: [
    ['another provisioner', { provisioner: 'other' }, ['Forbidden provisioner']],
    ['another parameter', { parameters: { type: 'slow' } }, ['Forbidden parameters']],
    ['another end', { reclaimPolicy: 'Retain' }, ['Forbidden reclaimPolicy']],
    ['another binding', { volumeBindingMode: 'WaitForFirstConsumer' }, ['Invalid volumeBindingMode']],
  ],
  goodChanges: [['expansion', { allowVolumeExpansion: true }]],
});

testKind('CSIDriver', {
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
  badChanges: [['another way to attach', { spec: { attachRequired: true } }, ['Invalid spec']]],
});

testKind('CSINode', {
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
  ],
  badChanges: [
    [
      'another id',
      { spec: { drivers: [{ name: 'd.example.com', nodeID: 'm' }] } },
      ['Invalid CSINodeDriver'],
    ],
  ],
  goodChanges: [['no driver', { spec: { drivers: [] } }]],
});

testKind('VolumeAttachment', {
  url: `${V1}/volumeattachments`,
  good: { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } },
  bad: [
    ['no attacher', { spec: { attacher: '' } }, ['Required spec.attacher']],
    ['no node', { spec: { nodeName: '' } }, ['Invalid spec.nodeName']],
    ['no source', { spec: { source: { persistentVolumeName: null } } }, ['Required spec.source']],
    [
      'an empty source',
      { spec: { source: { persistentVolumeName: '' } } },
      ['Required spec.source.persistentVolumeName'],
    ],
    [
      'a bad volume',
      { spec: { source: { persistentVolumeName: 'B@d' } } },
      ['Invalid spec.source.persistentVolumeName'],
    ],
  ],
  badChanges: [['another node', { spec: { nodeName: 'm' } }, ['Invalid spec']]],
});
