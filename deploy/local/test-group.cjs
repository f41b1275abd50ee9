'use strict';

const { writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..');
/** Fake clocks of tests replace the global `performance`. */
const now = performance.now.bind(performance);

/**
 * Declares the tests of several suites in one file of jest, so that the suites share one module registry: jest evaluates all modules again for
 * each file. Hooks of a suite apply to its own tests only, because they are registered in the block of the suite. Writes the seconds of each
 * suite, module loading included, next to the group's file, where the progress reporter reads them.
 */
module.exports = function defineGroup(groupFile, suites) {
  const seconds = {};
  for (const suite of suites) {
    describe(suite, () => {
      let startedAt = now();
      let loadMs = 0;
      beforeAll(() => {
        startedAt = now();
      });
      require(path.join(ROOT, suite));
      loadMs = now() - startedAt;
      afterAll(() => {
        seconds[suite] = (loadMs + now() - startedAt) / 1_000;
      });
    });
  }
  afterAll(() => {
    writeFileSync(`${groupFile}.seconds.json`, JSON.stringify(seconds));
  });
};
