import { messageType } from '../types';
import { DOCUMENT_BYTES_MAX, readerWords } from './reader-words';

/** A message, JSON that does not fit it, and what v1.21 says of that. */
const ROWS: readonly (readonly [string, string, string])[] = [
  [
    'core/v1.ConfigMap',
    String.raw`{"metadata":{"name":"x","deletionTimestamp":"t\t\"日"}}`,
    String.raw`v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "t\x09\"\xe6\x97\xa5" as "2006-01-02T15:04:05Z07:00": cannot parse "t\x09\"\xe6\x97\xa5" as "2006", error found in #10 byte of ...|"t\t\"日"}}|..., bigger context ...|tadata":{"name":"x","deletionTimestamp":"t\t\"日"}}|...`,
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"202x-01-02T03:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "202x-01-02T03:04:05Z" as "2006-01-02T15:04:05Z07:00": cannot parse "-01-02T03:04:05Z" as "2006", error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|me":"x","deletionTimestamp":"202x-01-02T03:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "-", error found in #10 byte of ...|mp":"2021"}}|..., bigger context ...|{"metadata":{"name":"x","deletionTimestamp":"2021"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-1-02T03:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-1-02T03:04:05Z" as "2006-01-02T15:04:05Z07:00": cannot parse "1-02T03:04:05Z" as "01", error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|ame":"x","deletionTimestamp":"2021-1-02T03:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-13-02T03:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-13-02T03:04:05Z": month out of range, error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|me":"x","deletionTimestamp":"2021-13-02T03:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-31T03:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-31T03:04:05Z": day out of range, error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|me":"x","deletionTimestamp":"2021-02-31T03:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-11T03:04:05+0x:00"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-11T03:04:05+0x:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00", error found in #10 byte of ...|:05+0x:00"}}|..., bigger context ...|x","deletionTimestamp":"2021-02-11T03:04:05+0x:00"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-11T03:04:05"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-11T03:04:05" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00", error found in #10 byte of ...|T03:04:05"}}|..., bigger context ...|ame":"x","deletionTimestamp":"2021-02-11T03:04:05"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-11T25:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-11T25:04:05Z": hour out of range, error found in #10 byte of ...|25:04:05Z"}}|..., bigger context ...|me":"x","deletionTimestamp":"2021-02-11T25:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-11T03:04:05ZZ"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-11T03:04:05ZZ": extra text: "Z", error found in #10 byte of ...|3:04:05ZZ"}}|..., bigger context ...|e":"x","deletionTimestamp":"2021-02-11T03:04:05ZZ"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":"2021-02-11 03:04:05Z"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "2021-02-11 03:04:05Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 03:04:05Z" as "T", error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|me":"x","deletionTimestamp":"2021-02-11 03:04:05Z"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":""}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006", error found in #10 byte of ...|estamp":""}}|..., bigger context ...|{"metadata":{"name":"x","deletionTimestamp":""}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":5}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: json: cannot unmarshal number into Go value of type string, error found in #10 byte of ...|mestamp":5}}|..., bigger context ...|{"metadata":{"name":"x","deletionTimestamp":5}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"x","deletionTimestamp":{"a":[1]}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.DeletionTimestamp: unmarshalerDecoder: json: cannot unmarshal object into Go value of type string, error found in #10 byte of ...|:{"a":[1]}}}|..., bigger context ...|etadata":{"name":"x","deletionTimestamp":{"a":[1]}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"data":{"é€😀":"€😀€😀€😀€😀","a":1,"b":"€€€€€€€€€€€€€€€€€€€€€€€€€€€€"}}',
    'v1.ConfigMap.Data: ReadString: expects " or n, but found 1, error found in #10 byte of ...|���","a":1,"b":"€�|..., bigger context ...|:{"é€😀":"€😀€😀€😀€😀","a":1,"b":"€€€€€€€€€€€€€€��|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"ab$d"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 2, error found in #10 byte of ...|"a":"ab$d"}}|..., bigger context ...|{"binaryData":{"a":"ab$d"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"abc"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 0, error found in #10 byte of ...|{"a":"abc"}}|..., bigger context ...|{"binaryData":{"a":"abc"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"abcd="}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 4, error found in #10 byte of ...|a":"abcd="}}|..., bigger context ...|{"binaryData":{"a":"abcd="}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"a=cd"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 1, error found in #10 byte of ...|"a":"a=cd"}}|..., bigger context ...|{"binaryData":{"a":"a=cd"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"ab=d"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 2, error found in #10 byte of ...|"a":"ab=d"}}|..., bigger context ...|{"binaryData":{"a":"ab=d"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"abc=a"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 4, error found in #10 byte of ...|a":"abc=a"}}|..., bigger context ...|{"binaryData":{"a":"abc=a"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"ab="}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 3, error found in #10 byte of ...|{"a":"ab="}}|..., bigger context ...|{"binaryData":{"a":"ab="}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":"ab\\n=c"}}',
    'v1.ConfigMap.BinaryData: decode base64: illegal base64 data at input byte 3, error found in #10 byte of ...|":"ab\\n=c"}}|..., bigger context ...|{"binaryData":{"a":"ab\\n=c"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":3}}',
    'v1.ConfigMap.BinaryData: base64Codec: invalid input, error found in #10 byte of ...|ata":{"a":3}}|..., bigger context ...|{"binaryData":{"a":3}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":[1,300]}}',
    'v1.ConfigMap.BinaryData: []uint8: ReadUint8: overflow: 300, error found in #10 byte of ...|"a":[1,300]}}|..., bigger context ...|{"binaryData":{"a":[1,300]}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":{"a":[1,"x"]}}',
    'v1.ConfigMap.BinaryData: []uint8: readUint32: unexpected character: �, error found in #10 byte of ...|:{"a":[1,"x"]}}|..., bigger context ...|{"binaryData":{"a":[1,"x"]}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":"x"}',
    'v1.ConfigMap.BinaryData: ReadMapCB: expect { or n, but found ", error found in #10 byte of ...|aryData":"x"}|..., bigger context ...|{"binaryData":"x"}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"binaryData":[]}',
    'v1.ConfigMap.BinaryData: ReadMapCB: expect { or n, but found [, error found in #10 byte of ...|aryData":[]}|..., bigger context ...|{"binaryData":[]}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"data":"x","metadata":{"name":"a"}}',
    'v1.ConfigMap.Data: ReadMapCB: expect { or n, but found ", error found in #9 byte of ...|{"data":"x","metada|..., bigger context ...|{"data":"x","metadata":{"name":"a"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"data":{"a":123,"b":"c"},"metadata":{"name":"a"}}',
    'v1.ConfigMap.Data: ReadString: expects " or n, but found 1, error found in #10 byte of ...|ta":{"a":123,"b":"c"|..., bigger context ...|{"data":{"a":123,"b":"c"},"metadata":{"name":"a"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"data":{"a":1,"b":"c"},"immutable":true,"metadata":{"name":"a"}}',
    'v1.ConfigMap.Immutable: Data: ReadString: expects " or n, but found 1, error found in #10 byte of ...|ta":{"a":1,"b":"c"},|..., bigger context ...|{"data":{"a":1,"b":"c"},"immutable":true,"metadata":{"name":"a"}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"immutable":"x","metadata":{"name":"a","labels":{"a":"b"}}}',
    'v1.ConfigMap.Immutable: ReadBool: expect t or f, but found ", error found in #10 byte of ...|mutable":"x","metada|..., bigger context ...|{"immutable":"x","metadata":{"name":"a","labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"immutable":5,"metadata":{"name":"a","labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Immutable: ReadBool: expect t or f, but found 5, error found in #10 byte of ...|mutable":5,"metadata|..., bigger context ...|{"immutable":5,"metadata":{"name":"a","labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"immutable":true,"metadata":[]}',
    'v1.ConfigMap.ObjectMeta: readObjectStart: expect { or n, but found [, error found in #10 byte of ...|etadata":[]}|..., bigger context ...|{"immutable":true,"metadata":[]}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":1.5,"labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Generation: assertInteger: can not decode float as int, error found in #10 byte of ...|eration":1.5,"labels|..., bigger context ...|{"metadata":{"name":"a","generation":1.5,"labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":1e3,"labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: struct Decode: expect }, but found e, error found in #10 byte of ...|ration":1e3,"labels"|..., bigger context ...|{"metadata":{"name":"a","generation":1e3,"labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":99999999999999999999999,"labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Generation: readUint64: overflow, error found in #10 byte of ...|":999999999999999999|..., bigger context ...|{"metadata":{"name":"a","generation":99999999999999999999999,"labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":9223372036854775808,"labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Labels: Generation: ReadInt64: overflow: 9223372036854775808, error found in #10 byte of ...|6854775808,"labels":|..., bigger context ...|data":{"name":"a","generation":9223372036854775808,"labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":-9223372036854775809}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Generation: ReadInt64: overflow: 9223372036854775809, error found in #10 byte of ...|6854775809}}|..., bigger context ...|ata":{"name":"a","generation":-9223372036854775809}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","generation":"x","labels":{"a":"b"}}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Generation: readUint64: unexpected character: �, error found in #10 byte of ...|eration":"x","labels|..., bigger context ...|{"metadata":{"name":"a","generation":"x","labels":{"a":"b"}}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","ownerReferences":[{"kind":"x","controller":"true","uid":3}]}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.OwnerReferences: []v1.OwnerReference: v1.OwnerReference.Controller: ReadBool: expect t or f, but found ", error found in #10 byte of ...|troller":"true","uid|..., bigger context ...|:"a","ownerReferences":[{"kind":"x","controller":"true","uid":3}]}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","finalizers":["a",3]}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Finalizers: []string: ReadString: expects " or n, but found 3, error found in #10 byte of ...|rs":["a",3]}}|..., bigger context ...|{"metadata":{"name":"a","finalizers":["a",3]}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","finalizers":"a"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Finalizers: []string: decode slice: expect [ or n, but found ", error found in #10 byte of ...|alizers":"a"}}|..., bigger context ...|{"metadata":{"name":"a","finalizers":"a"}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{"metadata":{"name":"a","annotations":{"a":["x","y"],"b":"c"}},"data":{}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Annotations: ReadString: expects " or n, but found [, error found in #10 byte of ...|ns":{"a":["x","y"],"|..., bigger context ...|{"metadata":{"name":"a","annotations":{"a":["x","y"],"b":"c"}},"data":{}}|...',
  ],
  [
    'core/v1.ConfigMap',
    '{ "metadata" : {\n  "name" : "a",\n  "annotations": {\n "a": {"x": 1},\n "b": "c"\n}\n},\n "data": {"q":"r"}}',
    'v1.ConfigMap.ObjectMeta: v1.ObjectMeta.Annotations: ReadString: expects " or n, but found {, error found in #10 byte of ...| {\n "a": {"x": 1},\n |..., bigger context ...|ta" : {\n  "name" : "a",\n  "annotations": {\n "a": {"x": 1},\n "b": "c"\n}\n},\n "data": {"q":"r"}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":3,"ports":[{"containerPort":80}]}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Ports: []v1.ContainerPort: Image: ReadString: expects " or n, but found 3, error found in #10 byte of ...|,"image":3,"ports":[|..., bigger context ...|":"a"},"spec":{"containers":[{"name":"a","image":3,"ports":[{"containerPort":80}]}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":{"name":"a"}}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: decode slice: expect [ or n, but found {, error found in #10 byte of ...|tainers":{"name":"a"|..., bigger context ...|{"metadata":{"name":"a"},"spec":{"containers":{"name":"a"}}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":"80"}]}],"volumes":[]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Ports: []v1.ContainerPort: v1.ContainerPort.ContainerPort: readUint32: unexpected character: �, error found in #10 byte of ...|nerPort":"80"}]}],"v|..., bigger context ...|"name":"a","image":"b","ports":[{"containerPort":"80"}]}],"volumes":[]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":8000000000}]}],"volumes":[]}}',
    'v1.Pod.Spec: v1.PodSpec.Volumes: []v1.Volume: Containers: []v1.Container: v1.Container.Ports: []v1.ContainerPort: v1.ContainerPort.ContainerPort: ReadInt32: overflow: 3705032704, error found in #10 byte of ...|8000000000}]}],"volu|..., bigger context ...|","image":"b","ports":[{"containerPort":8000000000}]}],"volumes":[]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":3000000000}]}],"volumes":[]}}',
    'v1.Pod.Spec: v1.PodSpec.Volumes: []v1.Volume: Containers: []v1.Container: v1.Container.Ports: []v1.ContainerPort: v1.ContainerPort.ContainerPort: ReadInt32: overflow: 3000000000, error found in #10 byte of ...|3000000000}]}],"volu|..., bigger context ...|","image":"b","ports":[{"containerPort":3000000000}]}],"volumes":[]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","livenessProbe":{"httpGet":{"port":1.5}}}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.LivenessProbe: v1.Probe.Handler: HTTPGet: v1.HTTPGetAction.Port: unmarshalerDecoder: json: cannot unmarshal number 1.5 into Go value of type int32, error found in #10 byte of ...|"port":1.5}}}]}}|..., bigger context ...|"image":"b","livenessProbe":{"httpGet":{"port":1.5}}}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","livenessProbe":{"httpGet":{"port":true}}}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.LivenessProbe: v1.Probe.Handler: HTTPGet: v1.HTTPGetAction.Port: unmarshalerDecoder: json: cannot unmarshal bool into Go value of type int32, error found in #10 byte of ...|port":true}}}]}}|..., bigger context ...|image":"b","livenessProbe":{"httpGet":{"port":true}}}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","livenessProbe":{"httpGet":"x","exec":3}}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.LivenessProbe: v1.Probe.Handler: HTTPGet: readObjectStart: expect { or n, but found ", error found in #10 byte of ...|httpGet":"x","exec":|..., bigger context ...|name":"a","image":"b","livenessProbe":{"httpGet":"x","exec":3}}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"a","emptyDir":"x"},{"name":"b","configMap":{"name":3}}],"containers":[{"name":"a","image":"b"}]}}',
    'v1.Pod.Spec: v1.PodSpec.Volumes: []v1.Volume: v1.Volume.VolumeSource: EmptyDir: readObjectStart: expect { or n, but found ", error found in #10 byte of ...|mptyDir":"x"},{"name|..., bigger context ...|":"a"},"spec":{"volumes":[{"name":"a","emptyDir":"x"},{"name":"b","configMap":{"name":3}}],"containe|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1x"}}}]}}',
    `v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Resources: v1.ResourceRequirements.Limits: unmarshalerDecoder: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', error found in #10 byte of ...|"cpu":"1x"}}}]}}|..., bigger context ...|:"a","image":"b","resources":{"limits":{"cpu":"1x"}}}]}}|...`,
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1EE","a":"b"}}}]}}',
    `v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Resources: v1.ResourceRequirements.Limits: unmarshalerDecoder: unable to parse quantity's suffix, error found in #10 byte of ...|cpu":"1EE","a":"b"}}|..., bigger context ...|"a","image":"b","resources":{"limits":{"cpu":"1EE","a":"b"}}}]}}|...`,
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":["1"]}}}]}}',
    `v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Resources: v1.ResourceRequirements.Limits: unmarshalerDecoder: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', error found in #10 byte of ...|cpu":["1"]}}}]}}|..., bigger context ...|"a","image":"b","resources":{"limits":{"cpu":["1"]}}}]}}|...`,
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":""}}}]}}',
    `v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.Resources: v1.ResourceRequirements.Limits: unmarshalerDecoder: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', error found in #10 byte of ...|:{"cpu":""}}}]}}|..., bigger context ...|e":"a","image":"b","resources":{"limits":{"cpu":""}}}]}}|...`,
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","securityContext":{"capabilities":{"add":["a",1]}}}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: v1.Container.SecurityContext: v1.SecurityContext.Capabilities: v1.Capabilities.Add: []v1.Capability: ReadString: expects " or n, but found 1, error found in #10 byte of ...|dd":["a",1]}}}]}}|..., bigger context ...|b","securityContext":{"capabilities":{"add":["a",1]}}}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"securityContext":{"runAsUser":1.0},"containers":[{"name":"a","image":"b"}]}}',
    'v1.Pod.Spec: v1.PodSpec.SecurityContext: v1.PodSecurityContext.RunAsUser: assertInteger: can not decode float as int, error found in #10 byte of ...|nAsUser":1.0},"conta|..., bigger context ...|ame":"a"},"spec":{"securityContext":{"runAsUser":1.0},"containers":[{"name":"a","image":"b"}]}}|...',
  ],
  [
    'core/v1.Pod',
    '{"metadata":{"name":"a"},"spec":{"hostAliases":[{"ip":1}],"dnsPolicy":3,"containers":[{"name":"a","image":"b"}]}}',
    'v1.Pod.Spec: v1.PodSpec.Containers: []v1.Container: DNSPolicy: HostAliases: []v1.HostAlias: v1.HostAlias.IP: ReadString: expects " or n, but found 1, error found in #10 byte of ...|":[{"ip":1}],"dnsPol|..., bigger context ...|adata":{"name":"a"},"spec":{"hostAliases":[{"ip":1}],"dnsPolicy":3,"containers":[{"name":"a","image"|...',
  ],
  [
    'core/v1.Pod',
    '{"spec":{"serviceAccount":3}}',
    'v1.Pod.Spec: v1.PodSpec.DeprecatedServiceAccount: ReadString: expects " or n, but found 3, error found in #10 byte of ...|Account":3}}|..., bigger context ...|{"spec":{"serviceAccount":3}}|...',
  ],
  [
    'core/v1.Pod',
    '{"spec":{"volumes":[{"rbd":{"monitors":[1],"image":3,"user":[]}}]}}',
    'v1.Pod.Spec: v1.PodSpec.Volumes: []v1.Volume: v1.Volume.VolumeSource: RBD: v1.RBDVolumeSource.RadosUser: RBDImage: CephMonitors: []string: ReadString: expects " or n, but found 1, error found in #10 byte of ...|nitors":[1],"image":|..., bigger context ...|{"spec":{"volumes":[{"rbd":{"monitors":[1],"image":3,"user":[]}}]}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":{"replicas":"3","template":{"spec":{"containers":[]}}}}',
    'v1.Deployment.Spec: v1.DeploymentSpec.Replicas: readUint32: unexpected character: �, error found in #10 byte of ...|eplicas":"3","templa|..., bigger context ...|{"spec":{"replicas":"3","template":{"spec":{"containers":[]}}}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1e300}}}}',
    'v1.Deployment.Spec: v1.DeploymentSpec.Strategy: v1.DeploymentStrategy.RollingUpdate: v1.RollingUpdateDeployment.MaxSurge: unmarshalerDecoder: json: cannot unmarshal number 1e300 into Go value of type int32, error found in #10 byte of ...|rge":1e300}}}}|..., bigger context ...|ec":{"strategy":{"rollingUpdate":{"maxSurge":1e300}}}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":[]}}}}',
    'v1.Deployment.Spec: v1.DeploymentSpec.Strategy: v1.DeploymentStrategy.RollingUpdate: v1.RollingUpdateDeployment.MaxSurge: unmarshalerDecoder: json: cannot unmarshal array into Go value of type int32, error found in #10 byte of ...|xSurge":[]}}}}|..., bigger context ...|"spec":{"strategy":{"rollingUpdate":{"maxSurge":[]}}}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":{"template":[]}}',
    'v1.Deployment.Spec: v1.DeploymentSpec.Template: readObjectStart: expect { or n, but found [, error found in #10 byte of ...|emplate":[]}}|..., bigger context ...|{"spec":{"template":[]}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":[]}',
    'v1.Deployment.Spec: readObjectStart: expect { or n, but found [, error found in #9 byte of ...|{"spec":[]}|..., bigger context ...|{"spec":[]}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"spec":{"selector":{"matchLabels":{"a":1},"matchExpressions":[{"key":3}]}}}',
    'v1.Deployment.Spec: v1.DeploymentSpec.Selector: v1.LabelSelector.MatchExpressions: []v1.LabelSelectorRequirement: MatchLabels: ReadString: expects " or n, but found 1, error found in #10 byte of ...|ls":{"a":1},"matchEx|..., bigger context ...|{"spec":{"selector":{"matchLabels":{"a":1},"matchExpressions":[{"key":3}]}}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"status":{"replicas":-1.5}}',
    'v1.Deployment.Status: v1.DeploymentStatus.Replicas: assertInteger: can not decode float as int, error found in #10 byte of ...|plicas":-1.5}}|..., bigger context ...|{"status":{"replicas":-1.5}}|...',
  ],
  [
    'apps/v1.Deployment',
    '{"status":{"conditions":[{"type":"x","lastUpdateTime":"x"}]}}',
    'v1.Deployment.Status: v1.DeploymentStatus.Conditions: []v1.DeploymentCondition: v1.DeploymentCondition.LastUpdateTime: unmarshalerDecoder: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006", error found in #10 byte of ...|eTime":"x"}]}}|..., bigger context ...|s":{"conditions":[{"type":"x","lastUpdateTime":"x"}]}}|...',
  ],
  [
    'coordination/v1.Lease',
    '{"spec":{"renewTime":"2021-01-02T03:04:05Z"}}',
    'v1.Lease.Spec: v1.LeaseSpec.RenewTime: unmarshalerDecoder: parsing time "2021-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000", error found in #10 byte of ...|03:04:05Z"}}|..., bigger context ...|{"spec":{"renewTime":"2021-01-02T03:04:05Z"}}|...',
  ],
  [
    'coordination/v1.Lease',
    '{"spec":{"renewTime":"2021-01-02T03:04:05.12Z"}}',
    'v1.Lease.Spec: v1.LeaseSpec.RenewTime: unmarshalerDecoder: parsing time "2021-01-02T03:04:05.12Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".12Z" as ".000000", error found in #10 byte of ...|04:05.12Z"}}|..., bigger context ...|{"spec":{"renewTime":"2021-01-02T03:04:05.12Z"}}|...',
  ],
  [
    'coordination/v1.Lease',
    '{"spec":{"renewTime":7}}',
    'v1.Lease.Spec: v1.LeaseSpec.RenewTime: unmarshalerDecoder: json: cannot unmarshal number into Go value of type string, error found in #10 byte of ...|newTime":7}}|..., bigger context ...|{"spec":{"renewTime":7}}|...',
  ],
  [
    'core/v1.Secret',
    '{"data":{"a":"!"},"stringData":{"a":1}}',
    'v1.Secret.StringData: Data: decode base64: illegal base64 data at input byte 0, error found in #10 byte of ...|":{"a":"!"},"stringD|..., bigger context ...|{"data":{"a":"!"},"stringData":{"a":1}}|...',
  ],
  [
    'core/v1.Secret',
    '{"type":{"a":"b"},"data":{"a":"YQ=="},"immutable":false}',
    'v1.Secret.Type: ReadString: expects " or n, but found {, error found in #9 byte of ...|{"type":{"a":"b"},"|..., bigger context ...|{"type":{"a":"b"},"data":{"a":"YQ=="},"immutable":false}|...',
  ],
  [
    'core/v1.Secret',
    '{"type":1,"data":{"a":"YQ=="},"immutable":false}',
    'v1.Secret.Data: Type: ReadString: expects " or n, but found 1, error found in #9 byte of ...|{"type":1,"data":{"|..., bigger context ...|{"type":1,"data":{"a":"YQ=="},"immutable":false}|...',
  ],
  [
    'rbac/v1.RoleBinding',
    '{"roleRef":["x"],"metadata":{}}',
    'v1.RoleBinding.RoleRef: readObjectStart: expect { or n, but found [, error found in #10 byte of ...|roleRef":["x"],"meta|..., bigger context ...|{"roleRef":["x"],"metadata":{}}|...',
  ],
  [
    'autoscaling/v2beta1.HorizontalPodAutoscaler',
    '{"status":{"currentReplicas":{"a":"b"}}}',
    'v2beta1.HorizontalPodAutoscaler.Status: v2beta1.HorizontalPodAutoscalerStatus.CurrentReplicas: readUint32: unexpected character: �, error found in #10 byte of ...|eplicas":{"a":"b"}}}|..., bigger context ...|{"status":{"currentReplicas":{"a":"b"}}}|...',
  ],
  [
    'authorization/v1.SubjectAccessReview',
    '{"spec":{"extra":{"a":["b",1]}}}',
    'v1.SubjectAccessReview.Spec: v1.SubjectAccessReviewSpec.Extra: v1.ExtraValue: ReadString: expects " or n, but found 1, error found in #10 byte of ...|"a":["b",1]}}}|..., bigger context ...|{"spec":{"extra":{"a":["b",1]}}}|...',
  ],
  [
    'authorization/v1beta1.SubjectAccessReview',
    '{"spec":{"group":[1]}}',
    'v1beta1.SubjectAccessReview.Spec: v1beta1.SubjectAccessReviewSpec.Groups: []string: ReadString: expects " or n, but found 1, error found in #10 byte of ...|"group":[1]}}|..., bigger context ...|{"spec":{"group":[1]}}|...',
  ],
  [
    'networking/v1.NetworkPolicy',
    '{"spec":{"policyTypes":[{}],"ingress":[{"from":[{"ipBlock":{"cidr":1}}]}]}}',
    'v1.NetworkPolicy.Spec: v1.NetworkPolicySpec.PolicyTypes: []v1.PolicyType: ReadString: expects " or n, but found {, error found in #10 byte of ...|yTypes":[{}],"ingres|..., bigger context ...|{"spec":{"policyTypes":[{}],"ingress":[{"from":[{"ipBlock":{"cidr":1}}]}]}}|...',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"maximum":"x","properties":{"a":{"type":3}}}}}]}}',
    'v1.CustomResourceDefinition.Spec: v1.CustomResourceDefinitionSpec.Versions: []v1.CustomResourceDefinitionVersion: v1.CustomResourceDefinitionVersion.Schema: v1.CustomResourceValidation.OpenAPIV3Schema: v1.JSONSchemaProps.Maximum: readNumberAsString: invalid number, error found in #10 byte of ...|"maximum":"x","prope|..., bigger context ...|ersions":[{"schema":{"openAPIV3Schema":{"maximum":"x","properties":{"a":{"type":3}}}}}]}}|...',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":"x"}}}]}}',
    'v1.CustomResourceDefinition.Spec: v1.CustomResourceDefinitionSpec.Versions: []v1.CustomResourceDefinitionVersion: v1.CustomResourceDefinitionVersion.Schema: v1.CustomResourceValidation.OpenAPIV3Schema: v1.JSONSchemaProps.AdditionalProperties: unmarshalerDecoder: boolean or JSON schema expected, error found in #10 byte of ...|rties":"x"}}}]}}|..., bigger context ...|ma":{"openAPIV3Schema":{"additionalProperties":"x"}}}]}}|...',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    '{"spec":{"versions":[{"subresources":{"status":"x"}}]}}',
    'v1.CustomResourceDefinition.Spec: v1.CustomResourceDefinitionSpec.Versions: []v1.CustomResourceDefinitionVersion: v1.CustomResourceDefinitionVersion.Subresources: v1.CustomResourceSubresources.Status: skipObjectDecoder: expect object or null, error found in #10 byte of ...|{"status":"x"}}]}}|..., bigger context ...|{"spec":{"versions":[{"subresources":{"status":"x"}}]}}|...',
  ],
  [
    'storage/v1.StorageClass',
    '{"provisioner":1,"parameters":{"a":"b"}}',
    'v1.StorageClass.Parameters: Provisioner: ReadString: expects " or n, but found 1, error found in #10 byte of ...|isioner":1,"paramete|..., bigger context ...|{"provisioner":1,"parameters":{"a":"b"}}|...',
  ],
  [
    'core/v1.Namespace',
    '{"spec":{"finalizers":[1]}}',
    'v1.Namespace.Spec: v1.NamespaceSpec.Finalizers: []v1.FinalizerName: ReadString: expects " or n, but found 1, error found in #10 byte of ...|lizers":[1]}}|..., bigger context ...|{"spec":{"finalizers":[1]}}|...',
  ],
  [
    'core/v1.PersistentVolume',
    '{"spec":{"nfs":{"server":1},"accessModes":[1],"capacity":{"a":"1zz"}}}',
    'v1.PersistentVolume.Spec: v1.PersistentVolumeSpec.AccessModes: []v1.PersistentVolumeAccessMode: PersistentVolumeSource: NFS: v1.NFSVolumeSource.Server: ReadString: expects " or n, but found 1, error found in #10 byte of ...|"server":1},"accessM|..., bigger context ...|{"spec":{"nfs":{"server":1},"accessModes":[1],"capacity":{"a":"1zz"}}}|...',
  ],
];

describe('what upstream says of JSON that does not fit', () => {
  it.each(ROWS)('is told of %s: %s', (type, json, words) => {
    expect(readerWords(Buffer.from(json), messageType(type))).toBe(words);
  });

  it('is nothing where it fits', () => {
    const json =
      '{"kind":"ConfigMap","metadata":{"name":"a\\n\\u00e9","x":[{"y":-1.5e3,"z":[]},true,null]},"data":{"a":null}}';
    expect(readerWords(Buffer.from(json), messageType('core/v1.ConfigMap'))).toBeUndefined();
  });

  it('is nothing for a number that upstream takes for another one', () => {
    const json = '{"spec":{"replicas":6000000000}}';
    expect(readerWords(Buffer.from(json), messageType('apps/v1.Deployment'))).toBeUndefined();
  });

  it('is not looked for in a long document', () => {
    const json = (chars: number): Buffer => Buffer.from(`{"data":{"a":1,"b":"${'x'.repeat(chars)}"}}`);
    const length = json(0).length;
    const type = messageType('core/v1.ConfigMap');
    expect(readerWords(json(DOCUMENT_BYTES_MAX - length), type)).toContain('ReadString');
    expect(readerWords(json(DOCUMENT_BYTES_MAX - length + 1), type)).toBeUndefined();
  });

  it('comes to an end where brackets of a text seem to nest without one', () => {
    const json = `{"immutable":1,"metadata":{"${'['.repeat(16_000)}":1}}`;
    expect(readerWords(Buffer.from(json), messageType('core/v1.ConfigMap'))).toContain('ReadBool');
  });

  it('is nothing where more names than anyone reads would stand before it', () => {
    const many = Array.from({ length: 400 }, (_, at) => `{"name":"n${String(at)}","value":""}`);
    const json = `{"spec":{"containers":[{"name":1,"env":[${many.join(',')}]}]}}`;
    const words = readerWords(Buffer.from(json), messageType('core/v1.Pod')) ?? '';
    expect(words.length).toBeLessThan(10_000);
  });
});
