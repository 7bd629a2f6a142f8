import { connect } from '@nats-io/transport-node';

const nats = await connect({ servers: process.env.NATS_URL });
for (const newPlant of process.argv.slice(2)) console.log((await nats.request('plants.create', newPlant)).string());
await nats.close();
