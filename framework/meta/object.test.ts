import { deepEqual, equal } from 'node:assert/strict'
import { groupIn, isGroupVersion, printKind, versionIn } from './object.ts'

describe('an apiVersion', () => {
  it('has a group and a version', () => {
    const parts = (apiVersion: string) => [groupIn(apiVersion), versionIn(apiVersion)]
    deepEqual(parts('apps/v1'), ['apps', 'v1'])
    deepEqual(parts('v1'), ['', 'v1'])
    deepEqual(parts(''), ['', ''])
  })

  it('has at most one slash', () => {
    deepEqual(['apps/v1', 'v1', '', 'a/b/c'].map(isGroupVersion), [true, true, true, false])
    equal(versionIn('a/b/v1'), 'b/v1', 'no version of any group')
  })

  it('is printed with the kind as Go does', () => {
    equal(printKind({ apiVersion: 'apps/v1', kind: 'Deployment' }), 'apps/v1, Kind=Deployment')
    equal(printKind({ apiVersion: 'v1', kind: 'Pod' }), '/v1, Kind=Pod')
  })
})
