import { board } from "./board.js";

const ferries = [
  { name: "Tern", route: "Harbour – Gull Island", leavesAt: 540, delayMinutes: 0 },
  { name: "Puffin", route: "Harbour – North Quay", leavesAt: 565, delayMinutes: 12 },
  { name: "Eider", route: "Harbour – Gull Island", leavesAt: 660, delayMinutes: 0 },
];

console.log(board(ferries, 550));
