import assert from 'node:assert/strict'
import type { KubeObject } from '../meta/object.ts'
import { urlsInStatus } from './urlsinstatus.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'targets' }
const target = (name: string, more = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Target',
  metadata: { name },
  ...more,
})

describe('URLs in the status of objects', () => {
  const publisher = urlsInStatus(ref, 'urls', ({ metadata }) =>
    metadata.name === 'none' ? undefined : { target: metadata.name ?? '' },
  )

  it('are those of the view of each object', () => {
    assert.deepEqual(publisher.views(target('a')), [{ target: 'a' }])
    const made = publisher.publish(target('a', { status: { phase: 'Ready' } }), [
      'https://one',
      'https://two',
    ])
    assert.deepEqual(made.status, { phase: 'Ready', urls: [{ url: 'https://one' }, { url: 'https://two' }] })
  })

  it('are not written again', () => {
    const published = target('a', { status: { urls: [{ url: 'https://one' }] } })
    assert.equal(publisher.publish(published, ['https://one']), published)
  })

  it('are removed from objects that have no view any more, and not added to others', () => {
    assert.deepEqual(publisher.views(target('none')), [])
    assert.deepEqual(publisher.publish(target('none', { status: { urls: [{ url: 'x' }] } }), []).status, {
      urls: [],
    })
    const untouched = target('none')
    assert.equal(publisher.publish(untouched, []), untouched)
  })
})
