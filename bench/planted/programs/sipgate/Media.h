// Media.h : packets, codecs, jitter buffers, channels and the mixer
#ifndef SIPGATE_MEDIA_H
#define SIPGATE_MEDIA_H

#include "Thread.h"

struct SPacket
{
    SPacket* pNext;
    UINT32_  nSsrc;
    UINT16_  nSeq;
    UINT16_  nLen;
    BYTE8    Data[PACKET_BYTES];
};

class CPacketPool
{
public:
    explicit CPacketPool(unsigned nBytes) : m_nPacketBytes(nBytes) {}
    SPacket* Alloc();
    void Free(SPacket* pPacket);
    unsigned PacketBytes() const { return m_nPacketBytes; }
private:
    std::mutex m_Lock;
    SPacket*   m_pFree = nullptr;
    unsigned   m_nOut = 0;
    unsigned   m_nPacketBytes;
};

class CCodec
{
public:
    CCodec(unsigned nGain, unsigned nFrame) : m_nGain(nGain), m_nFrame(nFrame) {}
    virtual ~CCodec() = default;
    virtual int Decode(const BYTE8* pData, unsigned nLen) const = 0;
    void AddRef()  { m_nRefs.fetch_add(1, std::memory_order_relaxed); }
    void Release() { m_nRefs.fetch_sub(1, std::memory_order_relaxed); }
    unsigned Frame() const { return m_nFrame; }
protected:
    unsigned m_nGain;
    unsigned m_nFrame;
private:
    std::atomic<int> m_nRefs{1};
};

class CCodecAlaw : public CCodec
{
public:
    CCodecAlaw() : CCodec(3, 20) {}
    int Decode(const BYTE8* pData, unsigned nLen) const override;
};

class CCodecAdpcm : public CCodec
{
public:
    CCodecAdpcm() : CCodec(5, 30) {}
    int Decode(const BYTE8* pData, unsigned nLen) const override;
};

class CJitterBuffer
{
public:
    CJitterBuffer() : m_pSlots(new SPacket*[JITTER_SLOTS]) {}
    ~CJitterBuffer() { delete[] m_pSlots; }
    bool Push(SPacket* pPacket);
    SPacket* Pop();
private:
    SPacket**            m_pSlots;
    std::atomic<UINT16_> m_nWrite{0};
    std::atomic<UINT16_> m_nRead{0};
};

class CRtpSession
{
public:
    static UINT32_ NextSsrc() { return s_nNextSsrc.fetch_add(1, std::memory_order_relaxed); }
    static unsigned s_nJitterTarget;
private:
    static std::atomic<UINT32_> s_nNextSsrc;
};

struct CChannel
{
    std::atomic<CCodec*> m_pCodec{nullptr};
    CJitterBuffer*       m_pJitter = nullptr;
    unsigned             m_nRxPackets = 0;      // receiver
    unsigned             m_nTxPackets = 0;      // media thread
    std::atomic<int>     m_nState{0};           // signalling
    UINT32_              m_nSsrc = 0;           // signalling
    int                  m_nEnergy = 0;         // media thread
    unsigned             m_nLost = 0;
};

class CMixer : public CThread
{
public:
    CMixer() : CThread("mixer") {}
    void SetLevel(unsigned nMedia, int nLevel) { m_nLevels[nMedia].store(nLevel, std::memory_order_relaxed); }
    int  Master() const { return m_nMaster.load(std::memory_order_relaxed); }
protected:
    void Run() override;
private:
    std::atomic<int>      m_nLevels[MAX_MEDIA] = {};
    std::atomic<int>      m_nMaster{1};
    unsigned              m_nFrames = 0;
    int                   m_nWindow[32] = {};
};

class CMediaThread : public CThread
{
public:
    CMediaThread(unsigned nIndex, CMixer& rMixer) : CThread("media"), m_nIndex(nIndex), m_rMixer(rMixer) {}
protected:
    void Run() override;
private:
    bool Serve(unsigned nChannel);
    unsigned m_nIndex;
    CMixer&  m_rMixer;
};

extern CChannel*             g_pChannels;
extern CPacketPool*          g_pPool;
extern CCodec*               g_pCodecs[2];
extern std::vector<unsigned> g_Seeds;
extern std::atomic<bool>     g_bReceiverDone;

#endif
