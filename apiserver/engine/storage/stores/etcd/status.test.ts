import { warningFor } from './status';

test.each(['3.4.23', '3.4.24', '3.5.0', '3.5.7'])('etcd %s is warned of', (version) => {
  expect(warningFor(version)).toContain('upgrade to');
});

test.each(['3.4.25', '3.5.8', '3.5.21', '3.6.0', '4.0.1'])('etcd %s is not warned of', (version) => {
  expect(warningFor(version)).toBeUndefined();
});
