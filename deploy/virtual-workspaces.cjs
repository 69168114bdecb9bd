#!/nodejs/bin/node
// The entry point of kcp's image of the same name: `oriel virtual-workspaces` with the arguments of this program.
process.argv.splice(2, 0, 'virtual-workspaces')
require('/oriel/dist/bundle/oriel.cjs')
