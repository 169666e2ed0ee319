#pragma once
void quotaCharge(unsigned bytes);
void quotaDeny();
unsigned long quotaUsed();
unsigned long quotaDenied();
