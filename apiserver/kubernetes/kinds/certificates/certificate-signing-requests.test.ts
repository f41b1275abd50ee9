import { GROUP } from '../../../../shared/names';
import { startInProcessApi } from '../../../testing/in-process-api';

/** An ECDSA key's request for `CN=test`. */
const REQUEST = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----
MIHIMHECAQAwDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABJSl9S3twdp1a8WvFZsn6QXE+yFPnEEYwmSbbRv6drPWO8A1v8JnXFLlEr6t
eA7q7GtmtNnQI50m9HQiGgK0fzKgADAKBggqhkjOPQQDAgNHADBEAiBmXW4bNOPg
mv8BBXStpsQRJKNkfNFn298gflkkc40VFwIgXd/4734lBdeOrmnPMipkJQZuZlA5
QbcR2mQAG7bFzJM=
-----END CERTIFICATE REQUEST-----
`,
).toString('base64');

test('managedFields do not list the spec of a request, which is immutable', async () => {
  const api = await startInProcessApi();
  const path = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;
  const spec = { request: REQUEST, usages: ['client auth'], signerName: 'example.com/signer' };
  const body = { metadata: { name: 'r', labels: { a: 'b' } }, spec };
  const created = await api.call('POST', `${path}?fieldManager=m`, { body });
  expect(created.json.metadata.managedFields).toMatchObject([
    { manager: 'm', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } },
  ]);
  expect(created.json.metadata.managedFields[0].fieldsV1).not.toHaveProperty('f:spec');
  await api.close();
});
