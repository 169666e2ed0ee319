// What a device's closing does to its queues, before it frees them, it does once in their life: nobody reads there what
// the polling of a queue counts beside.
// no-finding
