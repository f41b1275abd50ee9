import { assert, asyncProperty, constantFrom } from 'fast-check';
import { minimalObject } from '../../apiserver/testing/minimal-objects';
import { collectionOf } from '../../apiserver/testing/stored-rows';
import { messageType } from '../../shared/schema/types';
import { editedObject } from './edited-object';
import { namesField } from './named-fields';
import type { RandomServer } from './testing/random-server';
import { edits, RANDOM_ROWS, RUN_OPTIONS, startRandomServer } from './testing/random-server';

/** By kind: field names in v1.21's error messages that no served version has. */
const NAMED_BY_UPSTREAM: Readonly<Record<string, RegExp>> = {
  // Validated in the internal version.
  Event: /^(involvedObject\.namespace|firstTimestamp|lastTimestamp|count|source|reportingController)$/,
  EndpointSlice: /^endpoints\[\d+\]\.deprecatedTopology$/,
  HorizontalPodAutoscaler: /^spec\.metrics(\[\d+\]\..*)?$/,
  RuntimeClass:
    /^(handler|scheduling\.nodeSelector|scheduling\.tolerations\.tolerations\[.*|overhead\.limits\[.*)$/,
  // Misnamed in v1.21.
  Node: /^(metadata\.taints\[|status\.(capacity|allocatable)\.)/,
  PersistentVolume: /^spec\.cephFS$/,
  PodSecurityPolicy: /^spec\.(allowedCSIDrivers\.allowedCSIDriver|allowedFlexVolumes\.allowedFlexVolumes)\[/,
  Service: /^spec\.LoadBalancerSourceRanges$/,
};
/** The same for pod templates of any kind. */
const IN_TEMPLATES = /\.overhead\.limits\[|template\.labels$/;

let server: RandomServer;
beforeAll(async () => {
  server = await startRandomServer();
});
afterAll(async () => {
  await server.api.close();
});

test('every cause of a validation error names a field of the version', async () => {
  await assert(
    asyncProperty(constantFrom(...RANDOM_ROWS), edits, async (row, changes) => {
      const sent = editedObject(minimalObject(row, 'default'), row.schema, changes);
      const { code, json } = await server.call('POST', `${collectionOf(row)}?dryRun=All`, sent);
      if (code !== 422) return;
      const { causes = [] } = json['details'] as { causes?: { field: string }[] };
      const unknown = causes
        .map(({ field }) => field)
        .filter((field) => !namesField(messageType(row.schema), field))
        .filter((field) => !IN_TEMPLATES.test(field) && NAMED_BY_UPSTREAM[row.kind]?.test(field) !== true);
      expect([row.schema, unknown]).toEqual([row.schema, []]);
    }),
    RUN_OPTIONS,
  );
});
