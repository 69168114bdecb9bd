import assert from 'node:assert/strict'
import { createDurations } from './durations.ts'

const definition = { name: 'request_seconds', help: 'How long.', buckets: [0.1, 1] }

describe('durations', () => {
  it('are a histogram in the text format of Prometheus', () => {
    const durations = createDurations(definition)
    const gets = durations.of({ verb: 'GET', scope: '' })
    for (const seconds of [0.125, 0.0625, 0.1, 1, 8]) gets.observe(seconds)
    assert.equal(
      durations.text(),
      [
        '# HELP request_seconds How long.',
        '# TYPE request_seconds histogram',
        'request_seconds_bucket{verb="GET",scope="",le="0.1"} 2',
        'request_seconds_bucket{verb="GET",scope="",le="1"} 4',
        'request_seconds_bucket{verb="GET",scope="",le="+Inf"} 5',
        'request_seconds_sum{verb="GET",scope=""} 9.2875',
        'request_seconds_count{verb="GET",scope=""} 5',
        '',
      ].join('\n'),
    )
  })

  it('with equal labels are counted together', () => {
    const durations = createDurations(definition)
    durations.of({ verb: 'say "x"' }).observe(2)
    durations.of({ verb: 'say "x"' }).observe(3)
    assert.match(durations.text(), /^request_seconds_count\{verb="say \\"x\\""\} 2$/m)
  })
})
