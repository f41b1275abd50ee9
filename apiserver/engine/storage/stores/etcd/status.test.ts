import { warningFor } from './status';

test.each(['2.3.8', '3.3.27'])('etcd %s is not supported', (version) => {
  expect(warningFor(version)).toContain('older than 3.4');
});

test.each(['3.4.23', '3.5.0', '3.6.0', '4.0.1'])('etcd %s is used without a warning', (version) => {
  expect(warningFor(version)).toBeUndefined();
});
